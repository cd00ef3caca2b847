-- Frames of the stacks in memory snapshots, each distinct one once.
-- One row: a frame: a line of a function.
--
-- run_id      the run
-- frame_id    number of the frame in the run
-- function    name of the function
-- filename    file as recorded, or relative with `--redact-paths`; `??` where it is not known
-- line        line in the file; null where it is not known
-- is_python   whether it is a line of Python
-- is_library  whether it lies in an installed package or in Python's own library
-- other       what else was recorded of it, such as its place in an FX graph (JSON)
SELECT frame_id, function, filename, line, is_python, is_library, other
FROM code_frames;
