-- Part of `alignment`: the operators that the names of fused kernels list, where no compile log
-- tells: `fused_kernel_ops(units)`, of a table like `compared_units` with `is_fused` and
-- `is_coarse`. `triton_poi_fused_add_gelu_3` lists `add` and `gelu`.
-- One row: a fused kernel, and the short name of operators of the other side that its name lists.
--
-- unit_id     the kernel
-- group_id    the group of kernels of its name
-- short_name  as in `compared_units`
-- number      which of the kernels that list this operator it is, in time, from 1
-- kernels     how many these are
CREATE MACRO fused_kernel_ops(units) AS TABLE
    WITH
    -- A fused kernel that the other side has too stands against that one.
    fused_kernels AS (
        SELECT
            unit_id,
            start_ns,
            hash('fusion', replace(name, '(graph) ', '')) AS group_id,
            concat('_', regexp_extract(name, '_fused_(.*)', 1), '_') AS listed
        FROM query_table(units)
        WHERE
            is_fused
            AND is_coarse
            AND name NOT IN (SELECT op.name FROM query_table(units) AS op WHERE NOT op.is_coarse)
    ),

    short_names AS (
        SELECT DISTINCT short_name
        FROM query_table(units)
        WHERE NOT is_coarse
    )

    SELECT
        kernel.unit_id,
        kernel.group_id,
        short_names.short_name,
        row_number() OVER (
            PARTITION BY short_names.short_name ORDER BY kernel.start_ns, kernel.unit_id
        ) AS number,
        count(*) OVER (PARTITION BY short_names.short_name) AS kernels
    FROM fused_kernels AS kernel
    INNER JOIN short_names ON contains(kernel.listed, concat('_', short_names.short_name, '_'));
