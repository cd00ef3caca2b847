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

    described AS (
        SELECT
            *,
            concat_ws(' in ', concat_ws(' of ', op, nullif(sizes_text(input_dims), '')), dtype)
                AS name,
            struct_pack(
                calls := calls,
                work_ns := work_ns,
                limited_by := limited_by,
                share := format('{:.2g}%', 100 * roofline_ns / work_ns),
                waves := if(waves < 0.8, format('{:.2g}', waves), NULL),
                features := [
                    if(is_product(kind), kind, 'other'),
                    -- What bounds it, by the threshold of `bound_by`.
                    if(limited_by = 'memory' AND roofline_ns >= 0.6 * work_ns, 'bandwidth', 'free'),
                    if(waves < 0.8, NULL, 'filled'),
                    if(kind = 'product' AND has_odd_rows(input_dims), NULL, 'aligned'),
                    if(contains(kernel, '::elementwise_kernel'), NULL, 'contiguous')
                ]
            ) AS slowest
        FROM ops_of_steps
    )

    SELECT
        run_id,
        device_id,
        any_value(tb_per_s) AS tb_per_s,
        any_value(speedup) AS speedup,
        sum(calls)::BIGINT AS calls,
        sum(work_ns)::BIGINT AS work_ns,
        sum(saved_ns)::BIGINT AS saved_ns,
        arg_max(name, (saved_ns, name)) FILTER (WHERE saved_ns IS NOT NULL) AS name,
        arg_max(slowest, (saved_ns, name)) FILTER (WHERE saved_ns IS NOT NULL) AS slowest
    FROM described
    GROUP BY run_id, device_id;
