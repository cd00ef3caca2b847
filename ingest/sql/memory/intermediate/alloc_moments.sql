-- Times at which memory was allocated, as intervals of one nanosecond for `overlapping`.
-- One row: a time on a lane.
SELECT DISTINCT lane, from_ns, from_ns + 1 AS to_ns FROM timed_allocs;
