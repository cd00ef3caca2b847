-- Part of `op_efficiency` and `shape_work`: the calls of operators with known work, with the time
-- of their kernels.
-- One row: a call of an operator with known work, on the device of its kernels; in a run without a
-- device, on its host.
--
-- run_id, rank, device_id, device
-- op_id              the operator (`ops.event_id`)
-- step               step of its first kernel (`steps.step`)
-- is_measured        whether it counts in the measured steps
-- is_median
-- kind               kind of work, as in `op_work`
-- dtype              type in which it computes
-- precision          the peak that limits it, as in `device_peaks`
-- flops              floating-point operations; null if unknown
-- bytes              bytes read and written; of a generated kernel, at most; null if unknown
-- module_id          innermost nn.Module around it (`module_tree.module_id`); null outside modules
-- stage              stage of the pipeline call in which it began, as in `stages`; null outside of
--                    calls
-- block_class        class name of the denoiser's block around it; null outside blocks
-- is_leaving_device  whether it copies from or to another device or the host
-- kernels            number of kernels, copies and memsets that it launched; null on a host
-- kernel             name of the longest of them
-- kernel_id          the longest of them (`kernels.event_id`)
-- work_ns            sum of their durations; on a host, duration of the operator, ns
-- launch_call_ns     time of the calls that launched them, ns
WITH
timed AS (
    SELECT
        kernels.run_id,
        kernels.rank,
        kernels.device_id,
        any_value(kernels.device) AS device,
        kernels.work_op_id AS op_id,
        min(kernels.step) AS step,
        count(measured.event_id) > 0 AS is_measured,
        coalesce(bool_or(measured.is_median), FALSE) AS is_median,
        count(*) AS kernels,
        arg_max(kernels.event_id, (kernels.dur_ns, kernels.event_id)) AS kernel_id,
        arg_max(kernels.name, (kernels.dur_ns, kernels.event_id)) AS kernel,
        sum(kernels.dur_ns)::BIGINT AS work_ns,
        sum(kernels.launch_dur_ns)::BIGINT AS launch_call_ns,
        bool_or(uses_matrix_cores(kernels.name)) AS is_on_matrix_cores,
        bool_or(kernels.kind = 'memcpy' AND regexp_matches(kernels.name, 'HtoD|DtoH|HtoH|PtoP'))
            AS is_leaving_device
    FROM kernels
    LEFT JOIN measured_kernels AS measured
        ON kernels.run_id = measured.run_id AND kernels.event_id = measured.event_id
    WHERE kernels.work_op_id IS NOT NULL
    GROUP BY kernels.run_id, kernels.rank, kernels.device_id, kernels.work_op_id
    -- If it launched kernels on several devices, its work is on the one with the most time.
    QUALIFY
        row_number() OVER (
            PARTITION BY kernels.run_id, kernels.work_op_id
            ORDER BY sum(kernels.dur_ns) DESC, kernels.device_id
        ) = 1
    UNION ALL BY NAME
    SELECT
        op.run_id,
        op.rank,
        measured.device_id,
        measured.device,
        op.event_id AS op_id,
        op.step,
        op.start_ns BETWEEN measured.start_ns AND measured.end_ns AS is_measured,
        is_measured
        AND is_median_step(measured.steps_from, measured.median_step, op.step) AS is_median,
        op.dur_ns AS work_ns,
        FALSE AS is_on_matrix_cores,
        FALSE AS is_leaving_device
    FROM measured_windows AS measured
    INNER JOIN ops AS op ON measured.run_id = op.run_id AND measured.source_id = op.source_id
    WHERE measured.measure = 'host' AND op.category = 'cpu_op'
)

SELECT
    timed.run_id,
    timed.rank,
    timed.device_id,
    timed.device,
    timed.op_id,
    timed.step,
    timed.is_measured,
    timed.is_median,
    work.kind,
    work.dtype,
    precision_of(work.dtype, work.kind, timed.is_on_matrix_cores) AS precision,
    work.flops,
    work.bytes,
    work.module_id,
    work.stage,
    work.block_class,
    timed.is_leaving_device,
    timed.kernels,
    timed.kernel,
    timed.kernel_id,
    timed.work_ns,
    timed.launch_call_ns
FROM timed
INNER JOIN op_work AS work ON timed.run_id = work.run_id AND timed.op_id = work.op_id;
