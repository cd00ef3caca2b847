-- How close the stages of a pipeline come to the limits of their device, in its call of median wall
-- time.
-- One row: a row of `stage_summary`: a call, a stage of it, or a block class in a stage.
--
-- run_id, device_id, rank, device, pipeline
-- level              call, stage or block
-- stage              stage of the call; null at level `call`
-- block_class
-- ordinal            order in which to show the stages, from 1; 0 for the call
-- wall_ns            time on the device, ns
-- flops              floating-point operations of operators whose work is known
-- tflop_per_s        `flops` by wall time, 10¹² operations per second
-- bytes              bytes that these operators read and write
-- tb_per_s           `bytes` by wall time, 10¹² bytes per second
-- mfu_percent
-- bandwidth_percent  `tb_per_s` as a share of the memory bandwidth, percent; null if it is unknown
-- known_percent
-- is_lower_bound     whether utilisation and rates are lower bounds, because less than 90 % of the
--                    work is known
-- unknown_reason     why `mfu_percent` is null: no_work (no operator has known work), no_products,
--                    or no_peak
WITH
works AS (
    SELECT
        calls.run_id,
        calls.device_id,
        calls.pipeline,
        work.stage,
        work.block_class,
        ['block', 'stage', 'call'][1 + grouping(work.stage) + grouping(work.block_class)] AS level,
        try_cast(sum(work.flops) AS BIGINT) AS flops,
        try_cast(sum(work.bytes) AS BIGINT) AS bytes,
        sum(work.flops_ns) AS flops_ns,
        sum(work.device_ns) AS device_ns,
        sum(work.flops / peaks.tflop_per_s / 1e3) FILTER (WHERE work.is_product) AS product_ns,
        lacks_peak(work.flops, work.is_product, peaks.tflop_per_s IS NOT NULL) AS lacks_peak
    FROM stage_calls AS calls
    INNER JOIN step_work AS work USING (run_id, source_id, call, device_id)
    LEFT JOIN device_peaks AS peaks
        ON
            work.run_id = peaks.run_id
            AND work.device_id = peaks.device_id
            AND work.precision = peaks.precision
    WHERE calls.is_median
    GROUP BY GROUPING SETS (
        (calls.run_id, calls.device_id, calls.pipeline),
        (calls.run_id, calls.device_id, calls.pipeline, work.stage),
        (calls.run_id, calls.device_id, calls.pipeline, work.stage, work.block_class)
    )
)

SELECT
    stages.run_id,
    stages.device_id,
    stages.rank,
    stages.device,
    stages.pipeline,
    stages.level,
    stages.stage,
    stages.block_class,
    stages.ordinal,
    stages.wall_ns,
    works.flops,
    works.flops / nullif(stages.wall_ns, 0) / 1e3 AS tflop_per_s,
    works.bytes,
    works.bytes / nullif(stages.wall_ns, 0) / 1e3 AS tb_per_s,
    if(works.lacks_peak, NULL, 100 * works.product_ns / nullif(stages.wall_ns, 0)) AS mfu_percent,
    100 * works.bytes / nullif(stages.wall_ns, 0) / 1e3 / limits.tb_per_s AS bandwidth_percent,
    known_share(works.flops_ns, works.device_ns, stages.busy_ns, stages.device IS NULL)
        AS known_percent,
    are_lower_bounds(known_percent) AS is_lower_bound,
    why_no_mfu(works.flops, works.lacks_peak, works.product_ns) AS unknown_reason
FROM stage_summary AS stages
LEFT JOIN works
    ON
        stages.run_id = works.run_id
        AND stages.device_id = works.device_id
        AND stages.pipeline = works.pipeline
        AND stages.level = works.level
        AND stages.stage IS NOT DISTINCT FROM works.stage
        AND stages.block_class IS NOT DISTINCT FROM works.block_class
LEFT JOIN device_limits AS limits
    ON stages.run_id = limits.run_id AND stages.device_id = limits.device_id;
