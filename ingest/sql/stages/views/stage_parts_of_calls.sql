-- The rows of `stage_summary` divided into parts: busy time by class, idle time by cause, and the
-- other parts that `parts` lists.
-- One row: a part of a row of `stage_summary`.
--
-- run_id, device_id, rank, device, pipeline
-- level    call, stage or block
-- stage    stage of the call; null at level `call`
-- block_class, part
-- is_idle  whether it is a cause of idle time
-- ordinal  order in which to show the parts, from 1
-- ns       time, ns; negative for an overlap
SELECT
    part.run_id,
    part.device_id,
    any_value(part.rank) AS rank,
    any_value(part.device) AS device,
    part.pipeline,
    ['block', 'stage', 'call'][1 + grouping(part.stage) + grouping(part.block_class)] AS level,
    part.stage,
    part.block_class,
    part.part,
    any_value(part.is_idle) AS is_idle,
    any_value(part.ordinal) AS ordinal,
    sum(part.ns)::BIGINT AS ns
FROM stage_parts AS part
INNER JOIN stage_calls AS calls USING (run_id, source_id, call, device_id)
WHERE calls.is_median
GROUP BY GROUPING SETS (
    (part.run_id, part.device_id, part.pipeline, part.part),
    (part.run_id, part.device_id, part.pipeline, part.part, part.stage),
    (part.run_id, part.device_id, part.pipeline, part.part, part.stage, part.block_class)
);
