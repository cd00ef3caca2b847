-- Work of each step and of each stage of pipeline calls, by the peak that limits it. `op_work` has
-- it by operator.
-- One row: a precision of products, or of other operators, in a step and a stage, on a device of an
-- input file; in a run without a device, on its host.
-- Materialised: a relation reads it, and its file is written from it.
--
-- run_id, source_id, rank, device_id, device
-- step         step (`steps.step`); null outside of steps, and if no steps were found
-- is_measured  whether it counts in the measured steps
-- call         number of the pipeline call in its input file, from 1 (`stages.call`); null outside
--              pipeline calls
-- stage        `encode`, `denoise`, `decode` or `other`; null outside pipeline calls
-- block_class  class name of the denoiser's block; null outside blocks
-- precision    the peak that limits the operators, as in `device_peaks`; null if no peak is known
--              for their type, and for activities without known work
-- is_product   whether they multiply matrices: products, convolutions and attention
-- worked_ops
-- flops        sum of their floating-point operations
-- bytes        sum of the bytes that they read and write
-- device_ns    sum of the durations of the activities, without communication, or of the operators
--              of a host with known work, ns
-- flops_ns     part of `device_ns` of operators whose floating-point operations are known, ns
-- bytes_ns     part of `device_ns` of operators whose bytes are known, ns
SELECT
    source_id,
    rank,
    device_id,
    device,
    step,
    is_measured,
    call,
    stage,
    block_class,
    precision,
    coalesce(is_product(kind), FALSE) AS is_product,
    count(*) FILTER (WHERE has_work) AS worked_ops,
    try_cast(sum(flops) AS BIGINT) AS flops,
    try_cast(sum(bytes) AS BIGINT) AS bytes,
    sum(work_ns)::BIGINT AS device_ns,
    coalesce(sum(work_ns) FILTER (WHERE has_flops), 0)::BIGINT AS flops_ns,
    coalesce(sum(work_ns) FILTER (WHERE has_bytes), 0)::BIGINT AS bytes_ns
FROM timed_work
WHERE is_measured OR stage IS NOT NULL
GROUP BY ALL
ORDER BY ALL;
