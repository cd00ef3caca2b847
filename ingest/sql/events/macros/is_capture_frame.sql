-- `is_capture_frame(name)`: whether a Python frame or its file belongs to `capture`, which calls the
-- pipelines that its commands profile, and is below the outermost module call of other programs.
CREATE MACRO is_capture_frame(name) AS regexp_matches(
    name, '(^|[/\\])capture[/\\](cli|pipelines|recording|scripts|sweep)[/\\]'
);
