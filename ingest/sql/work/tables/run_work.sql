-- Work of the median step of each run, as in `run_metrics`, by the peak that limits it.
-- One row: a precision of products, or of other operators, on a device; in a run without a device,
-- on its host.
-- Indexed: Queries over all runs read it.
--
-- run_id, rank, device_id, device
-- precision   the peak that limits the operators, as in `device_peaks`; null if no peak is known
--             for their type, and for activities without known work
-- is_product  whether they multiply matrices: products, convolutions and attention
-- worked_ops
-- flops       sum of their floating-point operations
-- bytes       sum of the bytes that they read and write
-- device_ns   sum of the durations of their kernels, or of the operators of a host, ns
-- flops_ns    part of `device_ns` of operators whose floating-point operations are known, ns
-- bytes_ns    part of `device_ns` of operators whose bytes are known, ns
SELECT
    work.rank,
    work.device_id,
    work.device,
    work.precision,
    work.is_product,
    sum(work.worked_ops)::BIGINT AS worked_ops,
    try_cast(sum(work.flops) AS BIGINT) AS flops,
    try_cast(sum(work.bytes) AS BIGINT) AS bytes,
    sum(work.device_ns)::BIGINT AS device_ns,
    sum(work.flops_ns)::BIGINT AS flops_ns,
    sum(work.bytes_ns)::BIGINT AS bytes_ns
FROM step_work AS work
SEMI JOIN step_metrics AS metrics
    ON
        work.source_id = metrics.source_id
        AND work.device_id = metrics.device_id
        AND work.step IS NOT DISTINCT FROM metrics.step
        AND metrics.is_median
WHERE work.is_measured
GROUP BY ALL
ORDER BY ALL;
