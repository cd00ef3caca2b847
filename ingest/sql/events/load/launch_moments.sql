-- Times at which a thread launched work, as intervals of one nanosecond for `overlapping`.
-- One row: a time on a lane.
SELECT DISTINCT lane, launch_ns AS from_ns, launch_ns + 1 AS to_ns FROM launches;
