-- `is_of_run(run_id, run)`: whether a row is of a run. A null `run` stands for all runs.
CREATE MACRO is_of_run(run_id, run) AS run IS NULL OR run_id = run;
