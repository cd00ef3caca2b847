-- `is_asked(run_id, step, run, from_step, to_step)`: whether a row is in the range of steps of a
-- run, as in `in_steps`. A null `run` stands for all runs.
CREATE MACRO is_asked(run_id, step, run, from_step, to_step) AS
(run IS NULL OR run_id = run) AND (in_steps(step, from_step, to_step));
