-- `is_capture_frame(name)`: whether a Python frame or its file belongs to `capture`. Its commands
-- call the pipelines that they profile. In other programs, one frame of it is below the outermost
-- module call.
CREATE MACRO is_capture_frame(name) AS regexp_matches(
    name, '(^|[/\\])capture[/\\](cli|pipelines|recording|scripts|sweep)[/\\]'
);
