-- Part of `alignment`: the operators that the names of fused kernels list, where no compile log
-- tells: `fused_kernel_ops(work_items)`, of a table like `compared_work_items` with `is_fused` and
-- `is_coarse`. `triton_poi_fused_add_gelu_3` lists `add` and `gelu`.
-- One row: a fused kernel, and the short name of operators of the other side that its name lists.
--
-- work_item_id  the kernel (`compared_work_items.work_item_id`)
-- group_id      the group of kernels of its name
-- short_name    as in `compared_work_items`
-- number        which of the kernels that list this operator it is, in time, from 1
-- kernels       how many these are
CREATE MACRO fused_kernel_ops(work_items) AS TABLE
    WITH
    -- A fused kernel that the other side has too stands against that one.
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
