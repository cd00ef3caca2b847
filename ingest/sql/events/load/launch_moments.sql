-- Moments at which a thread launched something, as intervals of one nanosecond for `overlapping`.
-- One row: a moment.
SELECT DISTINCT lane, launch_ns AS from_ns, launch_ns + 1 AS to_ns FROM launches;
