-- `in_steps(step, from_step, to_step)`: whether a step is one of `from_step` to `to_step`, both
-- included. A bound that is null is none; without bounds, what is in no step counts too.
CREATE MACRO in_steps(step, from_step, to_step) AS coalesce(
    step BETWEEN coalesce(from_step, step) AND coalesce(to_step, step),
    coalesce(from_step, to_step) IS NULL
);
