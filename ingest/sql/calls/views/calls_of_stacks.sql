-- Complete call stacks as calls for `flame_graph`: `calls_of_stacks(stacks)`. `stacks` names a
-- relation with the columns frames (VARCHAR[], outermost first), value and base_value.
-- One row: a frame of a stack.
--
-- id          identifies the frame and the frames around it by name
-- caller_id   the frame around it (`calls_of_stacks.id`); null for outermost frames
-- name        name of the frame
-- category    null
-- value       `value` of the stack for its innermost frame; 0 for other frames
-- base_value  `base_value` of the stack for its innermost frame; 0 for other frames; null if the
--             stack's is null
CREATE MACRO calls_of_stacks(stacks) AS TABLE
    WITH numbered AS (
        SELECT stack.*, unnest(range(1, len(stack.frames) + 1)) AS level
        FROM query_table(stacks) AS stack
    )

    SELECT
        hash(frames[:level])::VARCHAR AS id,
        if(level > 1, hash(frames[:level - 1])::VARCHAR, NULL) AS caller_id,
        frames[level] AS name,
        NULL::VARCHAR AS category,
        if(level = len(frames), value, 0) AS value,
        if(level = len(frames) OR base_value IS NULL, base_value, 0) AS base_value
    FROM numbered;
