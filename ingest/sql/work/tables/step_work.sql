-- Work of each measured step, by the peak that limits it. `op_work` has it by operator.
-- One row: a precision of products, or of other operators, in a step on a device of an input file;
-- in a run without a device, on its host.
-- Materialised: a relation reads it, and its file is written from it.
--
-- run_id, source_id, rank, device_id, device
-- step        step (`steps.step`); null if no steps were found
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
    source_id,
    rank,
    device_id,
    device,
    step,
    precision,
    coalesce(is_product(kind), FALSE) AS is_product,
    count(op_id) AS worked_ops,
    try_cast(sum(flops) AS BIGINT) AS flops,
    try_cast(sum(bytes) AS BIGINT) AS bytes,
    sum(device_ns)::BIGINT AS device_ns,
    coalesce(sum(device_ns) FILTER (WHERE flops IS NOT NULL), 0)::BIGINT AS flops_ns,
    coalesce(sum(device_ns) FILTER (WHERE bytes IS NOT NULL), 0)::BIGINT AS bytes_ns
FROM measured_op_work
GROUP BY ALL;
