-- Intervals of pipeline calls, for `memory_peaks`. `step` is the start of the interval.
-- One row: an interval of an input file.
SELECT source_id, start_ns AS step, start_ns, end_ns FROM stage_stretches;
