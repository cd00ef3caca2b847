-- Whether work of a step is of the median step: `is_median_step(median_source, median_step, source,
-- step)`, of columns `source_id` and `step` of `run_metrics` and of the work. All work is, where no
-- steps were found.
CREATE MACRO is_median_step(median_source, median_step, source, step) AS
median_step IS NULL OR coalesce(source = median_source AND step = median_step, FALSE);
