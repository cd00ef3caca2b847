-- Memory in use at any number of moments, by the call stack that allocated it:
-- `memory_stacks_at(moments)`. The argument is the name of a relation with rows of
-- `memory_timeline`. `calls_of_stacks` reads it.
-- One row: a list of frames.
--
-- frames      Python frames of the stack as `file:line:function`, outermost first; all frames if
--             none is Python; without a stack, the nn.Modules and the operator around the
--             allocation; if nothing is known, `(not freed)` for memory in use during the entire
--             trace, and otherwise `(no stack)`
-- value       bytes in use that were allocated there
-- base_value  always null
CREATE MACRO memory_stacks_at(moments) AS TABLE
    WITH
    requested_moments AS NOT MATERIALIZED (SELECT used_bytes FROM query_table(moments)),

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
                if(allocation.origin = 'snapshot_only', [not_freed()], [no_stack()])
            ) AS frames,
            allocation.bytes
        FROM memory_allocations_at(moments) AS allocation
        LEFT JOIN stack_names USING (run_id, stack_id)
    ),

    allocated AS (
        SELECT frames, bytes FROM followed
        UNION ALL
        SELECT
            [before_trace()] AS frames,
            (SELECT sum(requested_moments.used_bytes) FROM requested_moments)
            - (SELECT coalesce(sum(followed.bytes), 0) FROM followed) AS bytes
    )

    SELECT frames, sum(bytes)::BIGINT AS value, NULL::BIGINT AS base_value
    FROM allocated
    WHERE bytes > 0
    GROUP BY frames;
