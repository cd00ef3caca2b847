-- `is_asked(run_id, step, run, from_step, to_step)`: whether a row is of a run (`is_of_run`) and
-- in a range of its steps (`in_steps`).
CREATE MACRO is_asked(run_id, step, run, from_step, to_step) AS
is_of_run(run_id, run) AND in_steps(step, from_step, to_step);
