-- How close the nn.Modules of a run come to the limits of their device in a range of steps:
-- `module_efficiency_of_steps(run, from_step, to_step)`. Both bounds are included. A null bound
-- leaves the range open on that side; if both are null, it covers the whole recording. A module
-- includes the modules inside it. Only operators with known work count.
-- One row: a module inside the modules around it, in one rank, with work or device time in it.
--
-- rank
-- module_id          the module (`module_tree.module_id`)
-- worked_ops
-- work_ns            sum of the times of its operators, as in `op_efficiency`, ns
-- flops              sum of their floating-point operations
-- bytes              sum of their bytes
-- tflop_per_s, tb_per_s, peak_percent, bandwidth_percent
-- mfu_percent        the time that products, convolutions and attention take at the peaks of their
--                    types, as a share of the device time of the module without communication; of a
--                    host, of the time of its operators, percent; null if the peaks for more than
--                    1 % of their operations are unknown
-- bound
-- saved_ns           time that reaching the roofline would save, ns
-- saved_80_ns        time that reaching 80 % of the roofline would save, ns
-- known_percent      share of that time of operators whose floating-point operations are known,
--                    percent
CREATE MACRO module_efficiency_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    own AS (
        SELECT
            * EXCLUDE (run_id),
            flops IS NOT NULL AS is_known,
            is_product(kind) AS is_product
        FROM op_efficiency
        WHERE run_id = run AND in_steps(step, from_step, to_step) AND module_id IS NOT NULL
        UNION ALL BY NAME
        SELECT launched.rank, module_id, device_ns
        FROM launched_kernels AS launched
        WHERE
            run_id = run AND in_steps(step, from_step, to_step) AND module_id IS NOT NULL
            AND NOT is_communication(name)
        UNION ALL BY NAME
        SELECT calls.rank, module_id, self_ns AS device_ns
        FROM call_tree AS calls
        WHERE
            run_id = run AND in_steps(step, from_step, to_step) AND module_id IS NOT NULL
            AND category = 'cpu_op' AND self_device_ns IS NULL
    ),

    inside AS (
        SELECT own.*, unnest(tree.around) AS around_id
        FROM own
        INNER JOIN module_tree AS tree ON tree.run_id = run AND own.module_id = tree.module_id
    ),

    sums AS (
        SELECT
            inside.rank,
            around_id AS module_id,
            count(op_id) AS worked_ops,
            sum(work_ns)::BIGINT AS work_ns,
            try_cast(sum(flops) AS BIGINT) AS flops,
            try_cast(sum(bytes) AS BIGINT) AS bytes,
            rate_of(flops, work_ns) AS tflop_per_s,
            rate_of(bytes, work_ns) AS tb_per_s,
            share_at(at_peak_ns, work_ns) AS peak_percent,
            share_at(at_bandwidth_ns, work_ns) AS bandwidth_percent,
            sum(at_peak_ns) FILTER (WHERE is_product) AS product_ns,
            lacks_peak(flops, is_product, at_peak_ns IS NOT NULL) AS lacks_peak,
            bound_of(roofline_ns, at_peak_ns, at_bandwidth_ns, work_ns, launch_call_ns) AS bound,
            sum(saved_ns)::BIGINT AS saved_ns,
            sum(saved_80_ns)::BIGINT AS saved_80_ns,
            sum(work_ns) FILTER (WHERE is_known) AS known_ns,
            sum(device_ns) AS device_ns
        FROM inside
        GROUP BY inside.rank, around_id
    )

    SELECT
        sums.rank,
        module_id,
        worked_ops,
        work_ns,
        flops,
        bytes,
        tflop_per_s,
        tb_per_s,
        peak_percent,
        bandwidth_percent,
        if(lacks_peak, NULL, 100 * product_ns / nullif(device_ns, 0)) AS mfu_percent,
        bound,
        saved_ns,
        saved_80_ns,
        100 * least(coalesce(known_ns, 0), device_ns) / nullif(device_ns, 0) AS known_percent
    FROM sums;
