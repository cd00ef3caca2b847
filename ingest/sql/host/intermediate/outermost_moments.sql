-- Starts of the outermost operators, as intervals of one nanosecond for `overlapping`.
-- One row: the start of an operator.
SELECT DISTINCT lane, start_ns AS from_ns, start_ns + 1 AS to_ns FROM outermost_ops;
