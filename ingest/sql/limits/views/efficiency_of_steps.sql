-- How close operators, kernels and modules come to the limits of their device in a range of steps:
-- `efficiency_of_steps(run, from_step, to_step, of_stage := NULL)`. Both bounds are included. A
-- null bound leaves the range open on that side; if both are null, it covers all measured steps. A
-- null run stands for all runs. With a stage of pipeline calls, such as `encode`, only operators
-- that began in it count, also outside of steps if both bounds are null.
-- One row: a name on a device at one level. Only operators with known work count.
--
-- run_id, rank, device_id, device
-- level        op (an operator with the same shapes and type), kernel (operators by the longest
--              kernel that they launch), module (by the innermost nn.Module) or kind (by the kind
--              of work, such as product)
-- name         name of the operator, kernel, module or kind; null outside of modules
-- input_dims   at level op
-- dtype        compute type, as in `op_work`; null if there are several
-- precision    the peak that limits them, as in `device_peaks`; null if there are several
-- kind         kind of work, as in `work_formulas`; null if there are several
-- calls
-- work_ns      sum of the times of the calls, as in `op_efficiency`, ns
-- flops        sum of the floating-point operations
-- bytes        sum of the bytes
-- tflop_per_s, tb_per_s, intensity, peak_percent, bandwidth_percent, bound
-- saved_ns     time that reaching the roofline would save, ns
-- saved_80_ns  time that reaching 80 % of the roofline would save, ns
-- percent      share of the time of all operators with known work, percent
-- warning      above_peak: the calls together are faster than the peak allows
CREATE MACRO efficiency_of_steps(
    run := NULL, from_step := NULL, to_step := NULL, of_stage := NULL
) AS TABLE
    WITH
    levels AS (
        SELECT
            *,
            unnest([
                { 'level': 'op', 'name': op, 'input_dims': input_dims },
                { 'level': 'kernel', 'name': kernel, 'input_dims': NULL },
                { 'level': 'module', 'name': module, 'input_dims': NULL },
                { 'level': 'kind', 'name': kind, 'input_dims': NULL }
            ]) AS of_level
        FROM op_efficiency
        WHERE
            is_asked(run_id, step, run, from_step, to_step)
            AND if(of_stage IS NULL, is_measured, stage = of_stage)
    ),

    sums AS (
        SELECT
            run_id,
            levels.rank,
            device_id,
            device,
            of_level.level,
            of_level.name,
            of_level.input_dims,
            if(of_level.level = 'op', dtype, NULL) AS op_dtype,
            if(count(DISTINCT dtype) = 1, any_value(dtype), NULL) AS dtype,
            if(count(DISTINCT precision) = 1, any_value(precision), NULL) AS precision,
            if(count(DISTINCT kind) = 1, any_value(kind), NULL) AS kind,
            count(*) AS calls,
            sum(work_ns)::BIGINT AS work_ns,
            try_cast(sum(flops) AS BIGINT) AS flops,
            try_cast(sum(bytes) AS BIGINT) AS bytes,
            sum(flops) FILTER (WHERE bytes IS NOT NULL)
            / nullif(sum(bytes) FILTER (WHERE flops IS NOT NULL), 0) AS intensity,
            rate_of(flops, work_ns) AS tflop_per_s,
            rate_of(bytes, work_ns) AS tb_per_s,
            share_at(at_peak_ns, work_ns) AS peak_percent,
            share_at(at_bandwidth_ns, work_ns) AS bandwidth_percent,
            bound_of(roofline_ns, at_peak_ns, at_bandwidth_ns, work_ns, launch_call_ns) AS bound,
            sum(roofline_ns) AS roofline_ns,
            sum(work_ns) FILTER (WHERE roofline_ns IS NOT NULL)::BIGINT AS limited_ns,
            sum(saved_ns)::BIGINT AS saved_ns,
            sum(saved_80_ns)::BIGINT AS saved_80_ns
        FROM levels
        WHERE of_level.level <> 'kernel' OR kernel IS NOT NULL
        GROUP BY ALL
    )

    SELECT
        run_id,
        sums.rank,
        device_id,
        device,
        sums.level,
        name,
        input_dims,
        dtype,
        precision,
        kind,
        calls,
        work_ns,
        flops,
        bytes,
        tflop_per_s,
        tb_per_s,
        intensity,
        peak_percent,
        bandwidth_percent,
        bound,
        saved_ns,
        saved_80_ns,
        100 * work_ns / nullif(sum(work_ns) OVER of_level, 0) AS percent,
        if(roofline_ns > limited_ns, 'above_peak', NULL) AS warning
    FROM sums
    WINDOW of_level AS (PARTITION BY run_id, device_id, sums.level);
