-- `in_steps(step, from_step, to_step)`: whether a step is in the range `from_step` to `to_step`,
-- both included. A null bound leaves the range open. Without bounds, time outside of steps is
-- included too.
CREATE MACRO in_steps(step, from_step, to_step) AS
-- Without bounds, DuckDB does not evaluate the rest.
is_whole(from_step, to_step)
OR coalesce(step BETWEEN coalesce(from_step, step) AND coalesce(to_step, step), FALSE);
