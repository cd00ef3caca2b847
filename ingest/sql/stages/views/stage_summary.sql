-- Time and memory of a diffusers pipeline call by stage and by class of the denoiser's blocks. If
-- there are several calls, the one of median wall time is shown.
-- One row: at level `call`, the call on a device; at level `stage`, a stage of it; at level
-- `block`, a block class in a stage. The stages add up to the call, and the blocks to the stage.
--
-- run_id, device_id, rank, device, pipeline
-- call         the call (`stages.call`)
-- source_id    input file of the call
-- calls        number of calls of the pipeline on the device
-- level        call, stage or block
-- stage        `encode`, `denoise`, `decode`, or `other` for code outside these stages; null at
--              level `call`
-- block_class
-- ordinal      order in which to show the stages, from 1; 0 for the call
-- occurrences  at level `stage`, the number of steps, or of stages if there are no steps; at level
--              `block`, the number of block calls, null outside blocks; null at level `call`
-- host_ns      time on the calling thread, ns
-- operators    number of outermost operators that began in it
-- wall_ns      time on the device, ns
-- percent      share of the wall time of the call, 0 to 100
-- busy_ns      part of `wall_ns` in which the device was busy, or the host in a run without one, ns
-- idle_ns      idle time, ns
-- peak_bytes   peak of memory in use during it, as in `stages`, bytes; null if not recorded
WITH
medians AS (
    SELECT * FROM stage_calls WHERE is_median
),

cells AS (
    SELECT
        medians.run_id,
        medians.device_id,
        medians.pipeline,
        part.stage,
        part.block_class,
        part.ns AS wall_ns,
        if(NOT part.is_idle, part.ns, 0) AS busy_ns,
        if(part.is_idle, part.ns, 0) AS idle_ns
    FROM medians
    INNER JOIN stage_parts AS part USING (run_id, source_id, call, device_id)
    UNION ALL BY NAME
    SELECT
        medians.run_id,
        medians.device_id,
        medians.pipeline,
        cell.stage,
        cell.block_class,
        cell.step,
        cell.occurrences,
        cell.host_ns,
        cell.operators,
        cell.peak_bytes
    FROM medians
    INNER JOIN stages AS cell USING (run_id, source_id, call)
),

sums AS (
    SELECT
        run_id,
        device_id,
        pipeline,
        stage,
        block_class,
        ['block', 'stage', 'call'][1 + grouping(stage) + grouping(block_class)] AS level,
        count(DISTINCT step) AS steps,
        sum(occurrences) FILTER (WHERE block_class IS NOT NULL) AS blocks,
        sum(occurrences) FILTER (WHERE block_class IS NULL AND step IS NULL) AS stages,
        sum(host_ns)::BIGINT AS host_ns,
        sum(operators)::BIGINT AS operators,
        sum(wall_ns)::BIGINT AS wall_ns,
        sum(busy_ns)::BIGINT AS busy_ns,
        sum(idle_ns)::BIGINT AS idle_ns,
        max(peak_bytes) AS peak_bytes
    FROM cells
    GROUP BY GROUPING SETS (
        (run_id, device_id, pipeline),
        (run_id, device_id, pipeline, stage),
        (run_id, device_id, pipeline, stage, block_class)
    )
)

SELECT
    sums.run_id,
    sums.device_id,
    medians.rank,
    medians.device,
    sums.pipeline,
    medians.call,
    medians.source_id,
    medians.calls,
    sums.level,
    sums.stage,
    sums.block_class,
    coalesce(list_position(['encode', 'denoise', 'decode', 'other'], sums.stage), 0)::BIGINT
        AS ordinal,
    CASE sums.level
        WHEN 'stage' THEN coalesce(nullif(sums.steps, 0), sums.stages)
        WHEN 'block' THEN sums.blocks
    END::BIGINT AS occurrences,
    coalesce(sums.host_ns, 0) AS host_ns,
    coalesce(sums.operators, 0) AS operators,
    coalesce(sums.wall_ns, 0) AS wall_ns,
    100.0 * coalesce(sums.wall_ns, 0) / nullif(medians.wall_ns, 0) AS percent,
    coalesce(sums.busy_ns, 0) AS busy_ns,
    coalesce(sums.idle_ns, 0) AS idle_ns,
    sums.peak_bytes
FROM sums
INNER JOIN medians USING (run_id, device_id, pipeline)
QUALIFY
    sums.level <> 'block'
    OR count(sums.block_class) OVER (
        PARTITION BY sums.run_id, sums.device_id, sums.pipeline, sums.stage
    ) > 0
ORDER BY
    sums.run_id,
    medians.rank,
    medians.device,
    sums.pipeline,
    ordinal,
    level DESC,
    wall_ns DESC;
