-- Starts of the outermost phases, as intervals of one nanosecond for `overlapping`.
-- One row: the start of a phase.
SELECT lane, start_ns AS from_ns, start_ns + 1 AS to_ns FROM traced_phases WHERE is_outermost;
