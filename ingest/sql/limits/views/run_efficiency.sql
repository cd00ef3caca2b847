-- How close the median step of each run comes to the limits of its device.
-- One row: a device of a rank of a run; in a run without a device, the rank's host.
-- Start here: How close is each run to the limits of its device?
--
-- run_id, rank, device_id, device, is_default, is_slowest_of_rank
-- wall_ns            wall time of the median step, ns
-- flops              floating-point operations of the step, of operators whose work is known
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
work AS (
    SELECT
        work.run_id,
        work.device_id,
        try_cast(sum(work.flops) AS BIGINT) AS flops,
        try_cast(sum(work.bytes) AS BIGINT) AS bytes,
        sum(work.flops / peaks.tflop_per_s / 1e3) FILTER (WHERE work.is_product) AS product_ns,
        lacks_peak(work.flops, work.is_product, peaks.tflop_per_s IS NOT NULL) AS lacks_peak,
        sum(work.flops_ns) AS flops_ns,
        sum(work.device_ns) AS device_ns
    FROM run_work AS work
    LEFT JOIN device_peaks AS peaks
        ON
            work.run_id = peaks.run_id
            AND work.device_id = peaks.device_id
            AND work.precision = peaks.precision
    GROUP BY work.run_id, work.device_id
)

SELECT
    metrics.run_id,
    metrics.rank,
    metrics.device_id,
    metrics.device,
    metrics.is_default,
    metrics.is_slowest_of_rank,
    metrics.wall_ns,
    work.flops,
    work.flops / nullif(metrics.wall_ns, 0) / 1e3 AS tflop_per_s,
    work.bytes,
    work.bytes / nullif(metrics.wall_ns, 0) / 1e3 AS tb_per_s,
    if(work.lacks_peak, NULL, 100 * work.product_ns / nullif(metrics.wall_ns, 0)) AS mfu_percent,
    100 * work.bytes / nullif(metrics.wall_ns, 0) / 1e3 / limits.tb_per_s AS bandwidth_percent,
    known_share(work.flops_ns, work.device_ns, metrics.busy_ns, metrics.measure = 'host')
        AS known_percent,
    are_lower_bounds(known_percent) AS is_lower_bound,
    why_no_mfu(work.flops, work.lacks_peak, work.product_ns) AS unknown_reason
FROM run_metrics AS metrics
LEFT JOIN work ON metrics.run_id = work.run_id AND metrics.device_id = work.device_id
LEFT JOIN device_limits AS limits
    ON metrics.run_id = limits.run_id AND metrics.device_id = limits.device_id;
