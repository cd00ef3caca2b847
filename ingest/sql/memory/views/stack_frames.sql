-- The frames of each stack in memory snapshots and in dumps of the flight recorder.
-- One row: a frame at its position in a stack.
--
-- run_id
-- stack_id  the stack (`stacks.stack_id`)
-- depth     number of calls inside it: 0 for the innermost frame
-- function
-- filename  file as recorded
-- line, is_python, is_library
WITH placed AS (
    SELECT
        run_id,
        stack_id,
        unnest(frame_ids) AS frame_id,
        (generate_subscripts(frame_ids, 1) - 1)::INTEGER AS depth
    FROM stacks
)

SELECT
    placed.run_id,
    placed.stack_id,
    placed.depth,
    frames.function,
    frames.filename,
    frames.line,
    frames.is_python,
    frames.is_library
FROM placed
INNER JOIN frames ON placed.run_id = frames.run_id AND placed.frame_id = frames.frame_id;
