-- Whether work belongs to the median step: `is_median_step(steps_from, median_step, step)`, with
-- `steps_from` and `median_step` of `measured_windows`. In a run without steps, all work does.
CREATE MACRO is_median_step(steps_from, median_step, step) AS
steps_from = 'run' OR coalesce(step = median_step, FALSE);
