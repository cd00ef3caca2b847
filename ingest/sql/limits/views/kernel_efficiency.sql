-- Each kernel in the measured steps: its launch, how much of the device it fills, and how close it
-- comes to the limits. Work is known of operators: if an operator launched several kernels, its
-- work and rates are those of all of them.
-- One row: a kernel.
--
-- run_id, rank, device_id
-- event_id            the kernel (`kernels.event_id`)
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
            CASE WHEN len(kernels.block) > 0 THEN list_product(kernels.block) END,
            kernels.registers,
            kernels.shared_bytes
        ) AS resident_blocks,
        devices.multiprocessors
    FROM kernels
    INNER JOIN measured_kernels AS measured
        ON kernels.run_id = measured.run_id AND kernels.event_id = measured.event_id
    LEFT JOIN devices
        ON kernels.run_id = devices.run_id AND kernels.device_id = devices.device_id
    WHERE kernels.kind = 'kernel'
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
    if(work.op_id IS NULL, NULL, if(work.kernels = 1, 'kernel', 'operator')) AS level,
    launched.grid,
    launched.block,
    launched.registers,
    launched.shared_bytes,
    launched.blocks::BIGINT AS blocks,
    launched.resident_blocks::INTEGER AS resident_blocks,
    launched.blocks / (launched.resident_blocks * launched.multiprocessors) AS waves,
    launched.occupancy_percent,
    uses_matrix_cores(launched.name) AS is_on_matrix_cores,
    work.tflop_per_s,
    work.tb_per_s,
    work.intensity,
    work.peak_percent,
    work.bandwidth_percent,
    work.bound,
    round(work.saved_ns::DOUBLE * launched.dur_ns / nullif(work.work_ns, 0))::BIGINT AS saved_ns
FROM launched
LEFT JOIN op_efficiency AS work
    ON
        launched.run_id = work.run_id
        AND launched.work_op_id = work.op_id
        AND launched.device_id = work.device_id;
