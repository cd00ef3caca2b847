-- `is_whole(from_step, to_step)`: whether a range of steps has no bounds, so that it covers the
-- whole recording.
CREATE MACRO is_whole(from_step, to_step) AS coalesce(from_step, to_step) IS NULL;
