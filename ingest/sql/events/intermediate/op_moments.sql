-- Times at which a thread began an operator, as intervals of one nanosecond for `overlapping`.
-- One row: a time on a lane.
SELECT DISTINCT lane, start_ns AS from_ns, start_ns + 1 AS to_ns FROM op_spans;
