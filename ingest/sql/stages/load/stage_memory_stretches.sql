-- The stretches of the calls of pipelines, for `memory_peaks`; `step` is the start of the stretch.
-- One row: a stretch of time of an input file.
SELECT source_id, start_ns AS step, start_ns, end_ns FROM stage_stretches;
