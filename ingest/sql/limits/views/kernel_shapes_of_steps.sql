-- Which kernels take the time, and how they fill the device, in a range of steps:
-- `kernel_shapes_of_steps(run, from_step, to_step)`. Both bounds are included. A null bound leaves
-- the range open on that side; if both are null, it covers all measured steps. A null run stands
-- for all runs.
-- One row: a kernel with a launch shape (grid, block, registers, shared memory) on a device.
--
-- run_id, rank, device_id
-- kernel              name of the kernel
-- class               compute or communication
-- grid, block, registers, shared_bytes
-- calls
-- device_ns           sum of the durations, ns
-- percent             share of the durations of all kernels on the device, percent
-- mean_ns, min_ns, max_ns
-- std_ns              standard deviation of the duration, ns; null for a single call
-- known_ns            sum of the durations of calls with known work, ns; null if there are none
-- blocks              number of blocks
-- resident_blocks     blocks that fit on a multiprocessor at a time; null if unknown, as on AMD
-- waves
-- occupancy_percent
-- is_on_matrix_cores  whether its name shows that it uses tensor cores or matrix cores
-- level               what its work and rates belong to: kernel, or operator if an operator
--                     launched it together with other kernels; null if no work is known
-- tflop_per_s, tb_per_s, peak_percent, bandwidth_percent
-- bound               what bounds the calls together: compute, memory, launch or neither, as in
--                     `kernel_efficiency`; null if unknown
-- saved_ns            its share of the time that reaching the roofline would save, ns; null if the
--                     bound is unknown
CREATE MACRO kernel_shapes_of_steps(run := NULL, from_step := NULL, to_step := NULL) AS TABLE
    SELECT
        run_id,
        kernel_efficiency.rank,
        device_id,
        kernel,
        any_value(class) AS class,
        grid,
        block,
        registers,
        shared_bytes,
        count(*) AS calls,
        sum(dur_ns)::BIGINT AS device_ns,
        100 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER of_device, 0) AS percent,
        avg(dur_ns) AS mean_ns,
        min(dur_ns) AS min_ns,
        max(dur_ns) AS max_ns,
        stddev_samp(dur_ns) AS std_ns,
        sum(dur_ns) FILTER (WHERE op_id IS NOT NULL)::BIGINT AS known_ns,
        any_value(blocks) AS blocks,
        any_value(resident_blocks) AS resident_blocks,
        any_value(waves) AS waves,
        avg(occupancy_percent) AS occupancy_percent,
        any_value(is_on_matrix_cores) AS is_on_matrix_cores,
        max(kernel_efficiency.level) AS level,
        -- Each rate is weighted by time, and counts the calls for which it is known.
        sum(tflop_per_s * dur_ns)
        / nullif(sum(dur_ns) FILTER (WHERE tflop_per_s IS NOT NULL), 0) AS tflop_per_s,
        sum(tb_per_s * dur_ns)
        / nullif(sum(dur_ns) FILTER (WHERE tb_per_s IS NOT NULL), 0) AS tb_per_s,
        sum(peak_percent * dur_ns)
        / nullif(sum(dur_ns) FILTER (WHERE peak_percent IS NOT NULL), 0) AS peak_percent,
        sum(bandwidth_percent * dur_ns)
        / nullif(sum(dur_ns) FILTER (WHERE bandwidth_percent IS NOT NULL), 0) AS bandwidth_percent,
        bound_by(
            sum(peak_percent * dur_ns) FILTER (WHERE bound IS NOT NULL) / 100,
            sum(bandwidth_percent * dur_ns) FILTER (WHERE bound IS NOT NULL) / 100,
            sum(dur_ns) FILTER (WHERE bound IS NOT NULL),
            sum(launch_dur_ns) FILTER (WHERE bound IS NOT NULL)
        ) AS bound,
        sum(saved_ns)::BIGINT AS saved_ns
    FROM kernel_efficiency
    WHERE is_asked(run_id, step, run, from_step, to_step) AND dur_ns IS NOT NULL
    GROUP BY
        run_id, kernel_efficiency.rank, device_id, kernel, grid, block, registers, shared_bytes
    WINDOW of_device AS (PARTITION BY run_id, device_id);
