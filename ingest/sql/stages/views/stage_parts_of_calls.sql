-- The rows of `stage_summary` divided into parts: busy time by class, idle time by cause, and the
-- other parts that `parts` lists.
-- One row: a part of a row of `stage_summary`.
--
-- run_id, rank, device, pipeline
-- level    call, stage or block
-- stage    stage of the call; null at level `call`
-- block_class
-- part     name of the part, as in `parts`
-- is_idle  whether it is a cause of idle time
-- ordinal  order in which to show the parts, from 1
-- ns       time, ns; negative for an overlap
SELECT
    part.run_id,
    part.rank,
    part.device,
    part.pipeline,
    ['block', 'stage', 'call'][1 + grouping(part.stage) + grouping(part.block_class)] AS level,
    part.stage,
    part.block_class,
    part.part,
    part.is_idle,
    part.ordinal,
    sum(part.ns)::BIGINT AS ns
FROM stage_parts AS part
INNER JOIN stage_calls AS calls
    ON
        part.run_id = calls.run_id
        AND part.source_id = calls.source_id
        AND part.call = calls.call
        AND part.device IS NOT DISTINCT FROM calls.device
WHERE calls.is_median
GROUP BY GROUPING SETS (
    (part.run_id, part.rank, part.device, part.pipeline, part.part, part.is_idle, part.ordinal),
    (
        part.run_id, part.rank, part.device, part.pipeline, part.part, part.is_idle, part.ordinal,
        part.stage
    ),
    (
        part.run_id, part.rank, part.device, part.pipeline, part.part, part.is_idle, part.ordinal,
        part.stage, part.block_class
    )
);
