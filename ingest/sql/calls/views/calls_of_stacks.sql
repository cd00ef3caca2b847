-- The calls of whole stacks, for `flame_graph`: `calls_of_stacks(stacks)`. `stacks` names a
-- relation with frames (VARCHAR[], outermost first), value and base_value.
-- One row: a frame of a stack.
--
-- id          stands for the names of the frames around it and its own
-- caller_id   the frame around it (`calls_of_stacks.id`); null for the outermost
-- name        its name
-- category    null
-- value       that of the stack, if it is the innermost frame; else 0
-- base_value  the same; null where the stack's is
CREATE MACRO calls_of_stacks(stacks) AS TABLE
    WITH placed AS (
        SELECT stack.*, unnest(range(1, len(stack.frames) + 1)) AS place
        FROM query_table(stacks) AS stack
    )

    SELECT
        hash(frames[:place])::VARCHAR AS id,
        if(place > 1, hash(frames[:place - 1])::VARCHAR, NULL) AS caller_id,
        frames[place] AS name,
        NULL::VARCHAR AS category,
        if(place = len(frames), value, 0) AS value,
        if(place = len(frames) OR base_value IS NULL, base_value, 0) AS base_value
    FROM placed;
