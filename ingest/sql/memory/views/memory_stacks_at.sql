-- What was in use at any number of moments, by where it was allocated: `memory_stacks_at(moments)`,
-- with the name of a relation that has rows of `memory_timeline`. `calls_of_stacks` reads it.
-- One row: a place.
--
-- frames      the lines of Python in its stack as `file:line:function`, outermost first, or of C++
--             where there is none; without a stack the nn.Modules and the operator around the
--             allocation; `(no stack)` where neither is known
-- value       bytes allocated there that were in use
-- base_value  null
CREATE MACRO memory_stacks_at(moments) AS TABLE
    WITH
    asked_moments AS NOT MATERIALIZED (SELECT used_bytes FROM query_table(moments)),

    followed AS (
        SELECT
            coalesce(
                stack_names.python,
                stack_names.frames,
                nullif(
                    list_concat(
                        string_split(nullif(allocation.module, ''), '/'),
                        if(allocation.op IS NULL, [], [allocation.op])
                    ),
                    []
                ),
                [no_stack()]
            ) AS frames,
            allocation.bytes
        FROM memory_allocations_at(moments) AS allocation
        LEFT JOIN stack_names
            ON
                allocation.run_id = stack_names.run_id
                AND allocation.stack_id = stack_names.stack_id
    ),

    places AS (
        SELECT frames, bytes FROM followed
        UNION ALL
        SELECT
            [before_trace()] AS frames,
            (SELECT sum(asked_moments.used_bytes) FROM asked_moments)
            - (SELECT coalesce(sum(followed.bytes), 0) FROM followed) AS bytes
    )

    SELECT frames, sum(bytes)::BIGINT AS value, NULL::BIGINT AS base_value
    FROM places
    WHERE bytes > 0
    GROUP BY frames;
