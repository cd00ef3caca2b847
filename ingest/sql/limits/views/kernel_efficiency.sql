-- Each kernel in the measured steps: its launch, how much of the device it fills, and how close it
-- comes to the limits. Work is known of operators: if an operator launched several kernels, its
-- work and rates are those of all of them.
-- One row: a kernel. A kernel that hardware counters measured instead of recording it
-- (`counted_kernels`) has no times, launch shape and rates.
--
-- run_id, rank, device_id
-- event_id            the kernel, or its measurement (`events.event_id`)
-- kernel              its name
-- step                step that launched it (`steps.step`)
-- is_median
-- class               compute or communication
-- dur_ns, launch_dur_ns
-- op_id               operator with its work (`op_work.op_id`); null if no work is known
-- op                  name of that operator, or else of the innermost operator around the launch
-- module              innermost nn.Module around that operator
-- level               what its work and rates belong to: kernel, or operator if it is one of
--                     several kernels; null if no work is known
-- grid, block, registers, shared_bytes
-- blocks              number of blocks
-- resident_blocks     blocks that fit on a multiprocessor at a time; null if unknown, as on AMD
-- waves
-- occupancy_percent
-- is_on_matrix_cores  whether its name shows that it uses tensor cores or matrix cores
-- flops               floating-point operations of that operator, computed from its shapes; null if
--                     unknown
-- bytes               bytes that it reads and writes, computed likewise; null if unknown
-- measured_flops, measured_bytes
-- tflop_per_s, tb_per_s, intensity, peak_percent, bandwidth_percent, bound
-- saved_ns            its share of the time that reaching the roofline would save, by duration, ns
WITH
launched AS (
    SELECT
        kernels.*,
        measured.is_median,
        block_count(kernels.name, kernels.grid, kernels.block) AS blocks,
        resident_blocks(
            devices.capability,
            list_product(kernels.block),
            kernels.registers,
            kernels.shared_bytes
        ) AS resident_blocks,
        devices.multiprocessors,
        counted.measured_flops,
        counted.measured_bytes
    FROM kernels
    INNER JOIN measured_kernels AS measured
        ON kernels.run_id = measured.run_id AND kernels.event_id = measured.event_id
    LEFT JOIN devices
        ON kernels.run_id = devices.run_id AND kernels.device_id = devices.device_id
    LEFT JOIN counted_kernels AS counted
        ON kernels.run_id = counted.run_id AND kernels.launch_id = counted.launch_id
    WHERE kernels.kind = 'kernel'
    UNION ALL BY NAME
    SELECT
        counted.run_id,
        counted.rank,
        measured.device_id,
        counted.event_id,
        counted.kernel AS name,
        counted.step,
        is_median_step(measured.steps_from, measured.median_step, counted.step) AS is_median,
        'compute' AS class,
        counted.op,
        counted.work_op_id,
        count(*) OVER (PARTITION BY counted.run_id, counted.work_op_id) AS op_kernels,
        counted.measured_flops,
        counted.measured_bytes
    FROM counted_kernels AS counted
    INNER JOIN measured_windows AS measured
        ON
            counted.run_id = measured.run_id
            AND counted.source_id = measured.source_id
            AND measured.measure = 'host'
            AND counted.launch_ns BETWEEN measured.start_ns AND measured.end_ns
)

SELECT
    launched.run_id,
    launched.rank,
    launched.device_id,
    launched.event_id,
    launched.name AS kernel,
    launched.step,
    launched.is_median,
    launched.class,
    launched.dur_ns,
    launched.launch_dur_ns,
    work.op_id,
    coalesce(work.op, launched.op) AS op,
    work.module,
    if(
        work.op_id IS NULL,
        NULL,
        if(coalesce(launched.op_kernels, work.kernels) = 1, 'kernel', 'operator')
    ) AS level,
    launched.grid,
    launched.block,
    launched.registers,
    launched.shared_bytes,
    launched.blocks::BIGINT AS blocks,
    launched.resident_blocks::INTEGER AS resident_blocks,
    launched.blocks / (launched.resident_blocks * launched.multiprocessors) AS waves,
    launched.occupancy_percent,
    uses_matrix_cores(launched.name) AS is_on_matrix_cores,
    work.flops,
    work.bytes,
    launched.measured_flops,
    launched.measured_bytes,
    -- Without kernels, these would be of the operator's time on the host.
    if(launched.dur_ns IS NULL, NULL, work.tflop_per_s) AS tflop_per_s,
    if(launched.dur_ns IS NULL, NULL, work.tb_per_s) AS tb_per_s,
    work.intensity,
    if(launched.dur_ns IS NULL, NULL, work.peak_percent) AS peak_percent,
    if(launched.dur_ns IS NULL, NULL, work.bandwidth_percent) AS bandwidth_percent,
    if(launched.dur_ns IS NULL, NULL, work.bound) AS bound,
    round(work.saved_ns::DOUBLE * launched.dur_ns / nullif(work.work_ns, 0))::BIGINT AS saved_ns
FROM launched
LEFT JOIN op_efficiency AS work
    ON
        launched.run_id = work.run_id
        AND launched.work_op_id = work.op_id
        AND launched.device_id = work.device_id;
