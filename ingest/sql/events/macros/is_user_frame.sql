-- `is_user_frame(name)`: whether a Python frame of a trace is the user's code. Built-in functions,
-- torch, `capture` and programs that torch.compile wrote are not. The user's frames
-- are those that torch.compile reports as the origin of a graph.
CREATE MACRO is_user_frame(name) AS NOT is_capture_frame(name) AND NOT regexp_matches(
    name,
    '^(<|nn\.Module: )|(^|/)torch/|(^|/)(contextlib|functools)\.py\(|/c[a-z2-7]{51}\.py\('
);
