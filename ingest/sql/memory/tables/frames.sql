-- Frames of the stacks in memory snapshots and in dumps of the flight recorder. Each distinct frame
-- is stored once.
-- One row: a frame, which is a line of a function.
--
-- run_id
-- frame_id  number of the frame in the run
-- function
-- filename  file as recorded, or relative with `--redact-paths`; `??` if it is not known
-- line, is_python, is_library
-- other     other recorded data, such as the position in an FX graph (JSON)
SELECT frame_id, function, filename, line, is_python, is_library, other
FROM code_frames;
