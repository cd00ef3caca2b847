-- Whether work of a step is of the median step: `is_median_step(steps_from, median_step, step)`.
-- The first two are columns of `measured_windows`. All work is, where no steps were found.
CREATE MACRO is_median_step(steps_from, median_step, step) AS
steps_from = 'run' OR coalesce(step = median_step, FALSE);
