-- Part of `slow_ops` and `limit_sums_of`: work of operators beside the limits of their devices:
-- `limited_work_of(work)`, with the name of a relation that has columns of `shape_work`.
-- One row: an operator with the same shapes and type in a step of a device, or a device without
-- known work.
--
-- run_id, rank, device_id, device
-- tb_per_s     memory bandwidth of the device, 10¹² bytes per second; null if unknown
-- speedup      its peak in half precision, divided by that in float32; null if unknown
-- step         step of its first kernel (`steps.step`)
-- is_median
-- op           name of the operator
-- input_dims
-- kind         kind of work, as in `work_formulas`
-- dtype        compute type, as in `op_work`
-- calls
-- work_ns      time of its kernels, without time that counts in other advice, ns
-- limited_by   its longer time at the limits: compute (the peak) or memory (the bandwidth)
-- roofline_ns  that time, ns; null if unknown
-- saved_80_ns  time that reaching 80 % of the roofline would save, ns; null if it is as fast
-- kernel       its longest kernel
-- waves
CREATE MACRO limited_work_of(work) AS TABLE
    WITH
    limited AS (
        SELECT
            shape.* EXCLUDE (run_id, rank, device_id),
            rates.run_id,
            rates.rank,
            rates.device_id,
            rates.tb_per_s,
            half_precision_speedup(rates.peaks) AS speedup,
            shape.flops / rates.peaks[shape.precision] / 1e3 AS at_peak_ns,
            shape.bytes / rates.tb_per_s / 1e3 AS at_bandwidth_ns,
            roofline_of(shape.kind, at_peak_ns, at_bandwidth_ns) AS roofline_ns,
            shape.work_ns - shape.other_ns AS own_ns,
            round(own_ns - roofline_ns / 0.8) AS above_ns,
            -- These count in `float_matmul`.
            coalesce(
                is_matmul(shape.op) AND shape.precision = 'float32' AND speedup > 1, FALSE
            ) AS is_float_matmul
        FROM device_rates AS rates
        LEFT JOIN (SELECT * FROM query_table(work)) AS shape
            ON rates.run_id = shape.run_id AND rates.device_id = shape.device_id
    )

    SELECT
        run_id,
        limited.rank,
        device_id,
        device,
        tb_per_s,
        speedup,
        step,
        is_median,
        op,
        input_dims,
        kind,
        dtype,
        calls,
        own_ns AS work_ns,
        if(at_peak_ns > coalesce(at_bandwidth_ns, 0), 'compute', 'memory') AS limited_by,
        roofline_ns,
        if(above_ns > 0 AND NOT is_float_matmul, try_cast(above_ns AS BIGINT), NULL) AS saved_80_ns,
        kernel,
        waves
    FROM limited;
