-- The stacks in memory snapshots, line by line.
-- One row: a frame at its place in a stack.
--
-- run_id      the run
-- stack_id    the stack
-- depth       its place, 0 for the innermost
-- name        function
-- filename    file as recorded
-- line        line in the file; null where it is not known
-- is_python   whether it is a line of Python
-- is_library  whether it lies in an installed package or in Python's own library
WITH places AS (
    SELECT
        run_id,
        stack_id,
        unnest(frame_ids) AS frame_id,
        generate_subscripts(frame_ids, 1) - 1 AS depth
    FROM stacks
)

SELECT
    places.run_id,
    places.stack_id,
    places.depth,
    frames.name,
    frames.filename,
    frames.line,
    frames.is_python,
    frames.is_library
FROM places
INNER JOIN frames ON places.run_id = frames.run_id AND places.frame_id = frames.frame_id;
