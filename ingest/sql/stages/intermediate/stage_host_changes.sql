-- Times at which the stage on the host changes, for `host_stretches_of`.
-- One row: such a time, with the call, stage, step and block that begin then; null outside calls.
WITH ends AS (
    SELECT source_id, end_ns AS from_ns FROM pipeline_calls
    ANTI JOIN stage_stretches
        ON
            pipeline_calls.source_id = stage_stretches.source_id
            AND pipeline_calls.end_ns = stage_stretches.start_ns
)

SELECT source_id, start_ns AS from_ns, call, stage, step, block_class FROM stage_stretches
UNION ALL BY NAME
FROM ends;
