-- The stacks in memory snapshots, line by line.
-- One row: a frame at its place in a stack.
--
-- run_id      the run
-- stack_id    the stack (`stacks.stack_id`)
-- depth       calls inside it: 0 for the innermost frame
-- function    name of the function
-- filename    file as recorded
-- line        line in the file; null where it is not known
-- is_python   whether it is a line of Python
-- is_library  whether it lies in an installed package or in Python's own library
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
