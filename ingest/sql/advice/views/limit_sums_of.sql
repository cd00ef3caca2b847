-- Part of `advice_of`: what advice about the limits of devices needs: `limit_sums_of(work)`, with
-- the name of a relation that has columns of `shape_work`. These are no facts of `advice_facts`,
-- because the limits can change (tags of the run).
-- One row: a device or host.
--
-- run_id, device_id
-- tb_per_s  its memory bandwidth, 10¹² bytes per second; null if unknown
-- speedup   its peak in half precision, divided by that in float32; null if unknown
-- calls     number of calls of operators that take longer than 80 % of the roofline allows
-- work_ns   time of their kernels, ns
-- saved_ns  time that reaching 80 % of the roofline would save, ns
-- name      the operator that could save the most, with its shapes and type
-- slowest   that operator: calls; work_ns; limited_by and share, as text, of that limit; waves, as
--           text, if the blocks of its longest kernel fill less than 0.8 of the device; features:
--           its kind of work (product, convolution, attention or other), whether the memory
--           bandwidth bounds it (bandwidth or free), and filled (by its blocks), aligned (rows of
--           multiples of 8 elements) and contiguous, unless its kernel shows the contrary. Remedies
--           are left out for these, as for the features of a run
CREATE MACRO limit_sums_of(work) AS TABLE
    WITH
    shapes AS NOT MATERIALIZED (SELECT * FROM query_table(work)),

    ops_of_steps AS (
        SELECT
            run_id,
            device_id,
            tb_per_s,
            speedup,
            op,
            input_dims,
            kind,
            dtype,
            sum(calls) FILTER (WHERE saved_80_ns IS NOT NULL)::BIGINT AS calls,
            sum(work_ns) FILTER (WHERE saved_80_ns IS NOT NULL)::BIGINT AS work_ns,
            sum(roofline_ns) FILTER (WHERE saved_80_ns IS NOT NULL) AS roofline_ns,
            sum(saved_80_ns)::BIGINT AS saved_ns,
            arg_max(limited_by, saved_80_ns) AS limited_by,
            arg_max(kernel, saved_80_ns) AS kernel,
            arg_max(waves, saved_80_ns) AS waves
        FROM limited_work_of('shapes')
        GROUP BY ALL
    ),

    sums AS (
        SELECT
            run_id,
            device_id,
            any_value(tb_per_s) AS tb_per_s,
            any_value(speedup) AS speedup,
            sum(calls)::BIGINT AS calls,
            sum(work_ns)::BIGINT AS work_ns,
            sum(saved_ns)::BIGINT AS saved_ns,
            arg_max(ops_of_steps, (saved_ns, op, input_dims, dtype))
            FILTER (WHERE saved_ns IS NOT NULL) AS top
        FROM ops_of_steps
        GROUP BY run_id, device_id
    )

    SELECT
        run_id,
        device_id,
        tb_per_s,
        speedup,
        calls,
        work_ns,
        saved_ns,
        concat_ws(
            ' in ', concat_ws(' of ', top.op, nullif(sizes_text(top.input_dims), '')), top.dtype
        ) AS name,
        if(
            top IS NULL,
            NULL,
            struct_pack(
                calls := top.calls,
                work_ns := top.work_ns,
                limited_by := top.limited_by,
                share := format('{:.2g}%', 100 * top.roofline_ns / top.work_ns),
                waves := if(top.waves < 0.8, format('{:.2g}', top.waves), NULL),
                features := [
                    if(is_product(top.kind), top.kind, 'other'),
                    -- What bounds it, by the threshold of `bound_by`.
                    if(
                        top.limited_by = 'memory' AND top.roofline_ns >= 0.6 * top.work_ns,
                        'bandwidth',
                        'free'
                    ),
                    if(top.waves < 0.8, NULL, 'filled'),
                    if(top.kind = 'product' AND has_odd_rows(top.input_dims), NULL, 'aligned'),
                    if(contains(top.kernel, '::elementwise_kernel'), NULL, 'contiguous')
                ]
            )
        ) AS slowest
    FROM sums;
