-- How close each call of an operator comes to the limits of its device. `at_peak_ns`,
-- `at_bandwidth_ns`, `roofline_ns` and the times can be added up over calls.
-- One row: a call of an operator with known work, on the device of its kernels; in a run without a
-- device, on its host.
-- Start here: How close do operators come to the limits of the device?
--
-- run_id, rank, device_id, device
-- op_id            the operator (`ops.event_id`)
-- op               its name
-- step             step of its first kernel (`steps.step`)
-- is_measured      whether it counts in the measured steps
-- is_median
-- module           innermost nn.Module around it
-- module_id        that module (`module_tree.module_id`); null outside modules
-- stage            stage of the pipeline call around its start, as in `stages`; null outside
--                  pipeline calls
-- block_class      class name of the denoiser's block around it; null outside blocks
-- kind             kind of work, as in `op_work`
-- dtype            compute type, as in `op_work`
-- precision        the peak that limits it, as in `device_peaks`
-- input_dims
-- flops            floating-point operations; null if unknown
-- bytes            bytes read and written; of a generated kernel, at most; null if unknown
-- measured_flops, measured_bytes
-- intensity
-- kernels          number of kernels, copies and memsets that it launched; null on a host
-- kernel           the longest of them
-- work_ns          sum of their durations; on a host, duration of the operator, ns
-- launch_call_ns   time of the calls that launched them, ns
-- tflop_per_s, tb_per_s
-- at_peak_ns       time that its operations take at the peak, ns; null if unknown
-- at_bandwidth_ns  time that its bytes take at the memory bandwidth, ns; null if unknown, and for
--                  copies from or to another device or the host
-- roofline_ns      the longer one of these, ns: the roofline; null if unknown
-- peak_percent, bandwidth_percent, bound
-- saved_ns         time that reaching the roofline would save, ns
-- saved_80_ns      time that reaching 80 % of the roofline would save, ns
-- warning          above_peak: it is faster than the peak allows, so the work or the peak is wrong.
--                  Inputs may come from a cache, a convolution may have fewer operations
--                  (Winograd), and a generated kernel may use a part of its arguments
WITH
counted AS (
    SELECT
        run_id,
        work_op_id AS op_id,
        if(count(measured_flops) = count(*), try_cast(sum(measured_flops) AS BIGINT), NULL)
            AS measured_flops,
        if(count(measured_bytes) = count(*), try_cast(sum(measured_bytes) AS BIGINT), NULL)
            AS measured_bytes
    FROM counted_kernels
    WHERE work_op_id IS NOT NULL
    GROUP BY run_id, work_op_id
),

limited AS (
    SELECT
        work.*,
        work.flops / peaks.tflop_per_s / 1e3 AS at_peak_ns,
        if(work.is_leaving_device, NULL, work.bytes / limits.tb_per_s / 1e3) AS at_bandwidth_ns,
        roofline_of(work.kind, at_peak_ns, at_bandwidth_ns) AS roofline_ns
    FROM op_work AS work
    LEFT JOIN device_peaks AS peaks
        ON
            work.run_id = peaks.run_id
            AND work.device_id = peaks.device_id
            AND work.precision = peaks.precision
    LEFT JOIN device_limits AS limits
        ON work.run_id = limits.run_id AND work.device_id = limits.device_id
    WHERE work.work_ns IS NOT NULL
)

SELECT
    limited.run_id,
    limited.rank,
    limited.device_id,
    limited.device,
    limited.op_id,
    op.name AS op,
    limited.step,
    limited.is_measured,
    limited.is_median,
    op.module,
    limited.module_id,
    limited.stage,
    limited.block_class,
    limited.kind,
    limited.dtype,
    limited.precision,
    op.input_dims,
    limited.flops,
    limited.bytes,
    counted.measured_flops,
    counted.measured_bytes,
    limited.flops / nullif(limited.bytes, 0) AS intensity,
    limited.kernels,
    limited.kernel,
    limited.work_ns,
    limited.launch_call_ns,
    limited.flops / nullif(limited.work_ns, 0) / 1e3 AS tflop_per_s,
    limited.bytes / nullif(limited.work_ns, 0) / 1e3 AS tb_per_s,
    limited.at_peak_ns,
    limited.at_bandwidth_ns,
    limited.roofline_ns,
    100 * limited.at_peak_ns / nullif(limited.work_ns, 0) AS peak_percent,
    100 * limited.at_bandwidth_ns / nullif(limited.work_ns, 0) AS bandwidth_percent,
    if(
        limited.roofline_ns IS NULL,
        NULL,
        bound_by(
            limited.at_peak_ns,
            limited.at_bandwidth_ns,
            limited.work_ns,
            limited.launch_call_ns
        )
    ) AS bound,
    -- `greatest` skips nulls.
    if(
        limited.roofline_ns IS NULL,
        NULL,
        greatest(limited.work_ns - try_cast(round(limited.roofline_ns) AS BIGINT), 0)
    ) AS saved_ns,
    if(
        limited.roofline_ns IS NULL,
        NULL,
        greatest(limited.work_ns - try_cast(round(limited.roofline_ns / 0.8) AS BIGINT), 0)
    ) AS saved_80_ns,
    if(limited.work_ns > 0 AND limited.roofline_ns > limited.work_ns, 'above_peak', NULL) AS warning
FROM limited
INNER JOIN ops AS op ON limited.run_id = op.run_id AND limited.op_id = op.event_id
LEFT JOIN counted ON limited.run_id = counted.run_id AND limited.op_id = counted.op_id;
