-- `is_capture_frame(name)`: whether a Python frame or its file belongs to `capture`. Its commands
-- call the pipelines that they profile, and `capture run` adds frames around the outermost module
-- call of a program.
CREATE MACRO is_capture_frame(name) AS regexp_matches(name, concat(
    '(^|[/\\])capture[/\\](__main__|cli[/\\]main|(pipelines|recording|sweep)[/\\]\w+|',
    'scripts[/\\](calls|child|command|program|recorder))\.py'
));
