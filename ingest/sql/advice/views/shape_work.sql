-- Part of `slow_ops`: what the operators of the measured steps have to do, by operator with the
-- same shapes and type, without anything that depends on the limits of devices. So other limits
-- (tags of the run) need no other rows. Calls are left out if more than half of their time counts
-- in other advice.
-- One row: an operator with the same shapes and type in a step of a device.
-- Stored: it reads many tables of each run.
--
-- run_id, rank, device_id, device
-- step       step of its first kernel (`steps.step`)
-- is_median
-- op         name of the operator
-- input_dims
-- kind       kind of work, as in `work_formulas`
-- dtype      compute type, as in `op_work`
-- precision  the peak that limits it, as in `device_peaks`
-- calls
-- flops      sum of the floating-point operations; null if unknown of a call
-- bytes      sum of the bytes read and written; null if unknown of a call
-- work_ns    time of its kernels, copies and memsets, ns
-- other_ns   part of it that counts in other advice: kernels shorter than their launch, copies,
--            and attention that runs as separate operators, ns
-- kernel     its longest kernel
-- waves
WITH
attention AS (
    SELECT DISTINCT run_id, unnest(op_ids) AS op_id FROM unfused_attentions
),

counted AS (
    SELECT
        kernels.run_id,
        kernels.device_id,
        kernels.work_op_id AS op_id,
        sum(kernels.dur_ns) AS other_ns
    FROM kernels
    LEFT JOIN attention
        ON kernels.run_id = attention.run_id AND kernels.op_id = attention.op_id
    WHERE
        kernels.work_op_id IS NOT NULL
        AND (
            kernels.class <> 'compute'
            OR (kernels.dur_ns < kernels.launch_dur_ns AND NOT kernels.is_graph_launch)
            OR attention.op_id IS NOT NULL
        )
    GROUP BY kernels.run_id, kernels.device_id, kernels.work_op_id
),

sums AS (
    SELECT
        work.run_id,
        work.rank,
        work.device_id,
        work.device,
        work.step,
        work.is_median,
        op.name AS op,
        op.input_dims,
        work.kind,
        work.dtype,
        work.precision,
        count(*) AS calls,
        if(count(work.flops) = count(*), try_cast(sum(work.flops) AS BIGINT), NULL) AS flops,
        if(count(work.bytes) = count(*), try_cast(sum(work.bytes) AS BIGINT), NULL) AS bytes,
        sum(work.work_ns)::BIGINT AS work_ns,
        coalesce(sum(counted.other_ns), 0)::BIGINT AS other_ns,
        arg_max(work.kernel_id, (work.work_ns, work.kernel_id)) AS kernel_id
    FROM op_work AS work
    INNER JOIN ops AS op ON work.run_id = op.run_id AND work.op_id = op.event_id
    LEFT JOIN counted
        ON
            work.run_id = counted.run_id
            AND work.device_id = counted.device_id
            AND work.op_id = counted.op_id
    WHERE
        work.is_measured
        AND work.kernels IS NOT NULL
        AND coalesce(2 * counted.other_ns <= work.work_ns, TRUE)
    GROUP BY ALL
)

SELECT
    sums.* EXCLUDE (kernel_id),
    longest.name AS kernel,
    block_count(longest.name, longest.grid, longest.block) / (
        resident_blocks(
            devices.capability,
            list_product(longest.block),
            longest.registers,
            longest.shared_bytes
        ) * devices.multiprocessors
    ) AS waves
FROM sums
INNER JOIN kernels AS longest
    ON sums.run_id = longest.run_id AND sums.kernel_id = longest.event_id
LEFT JOIN devices ON sums.run_id = devices.run_id AND sums.device_id = devices.device_id
-- Adding a run again writes the same file.
ORDER BY
    sums.device_id, sums.step, sums.op, sums.input_dims, sums.kind, sums.dtype, sums.precision;
