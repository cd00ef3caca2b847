-- Part of `alignment`: the operators listed in the names of fused kernels that no compile log
-- explains: `fused_kernel_ops(work_items)`, with a table in the form of `compared_work_items` that
-- also has `is_fused` and `is_coarse`. For example, `triton_poi_fused_add_gelu_3` lists `add` and
-- `gelu`.
-- One row: a fused kernel, and the short name of an operator of the other side that its name lists.
--
-- work_item_id  the kernel (`compared_work_items.work_item_id`)
-- group_id      group of the kernels of this name
-- short_name    short name of the operator, as in `compared_work_items`
-- number        number of the kernel among the kernels that list this operator, in time order, from
--               1
-- kernels       number of kernels that list this operator
CREATE MACRO fused_kernel_ops(work_items) AS TABLE
    WITH
    -- Omit a fused kernel that the other side has too: the two correspond to each other.
    fused_kernels AS (
        SELECT
            work_item_id,
            start_ns,
            hash('fusion', replace(name, '(graph) ', '')) AS group_id,
            concat('_', regexp_extract(name, '_fused_(.*)', 1), '_') AS listed
        FROM query_table(work_items)
        WHERE
            is_fused
            AND is_coarse
            AND name NOT IN (
                SELECT op.name FROM query_table(work_items) AS op WHERE NOT op.is_coarse
            )
    ),

    short_names AS (
        SELECT DISTINCT short_name
        FROM query_table(work_items)
        WHERE NOT is_coarse
    )

    SELECT
        kernel.work_item_id,
        kernel.group_id,
        short_names.short_name,
        row_number() OVER (
            PARTITION BY short_names.short_name ORDER BY kernel.start_ns, kernel.work_item_id
        ) AS number,
        count(*) OVER (PARTITION BY short_names.short_name) AS kernels
    FROM fused_kernels AS kernel
    INNER JOIN short_names ON contains(kernel.listed, concat('_', short_names.short_name, '_'));
