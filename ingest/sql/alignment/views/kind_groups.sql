-- Part of `alignment`: work items, grouped by the properties that they share with work items of the
-- other side: `kind_groups(work_items, ops_in_names)`, with tables in the form of
-- `compared_work_items` and `fused_kernel_ops`.
-- One row: a work item.
--
-- side, work_item_id, group_id
-- evidence  source, shapes, order, name, kernel or none, as in `alignment`
CREATE MACRO kind_groups(work_items, ops_in_names) AS TABLE
    WITH RECURSIVE
    work_item_kinds AS MATERIALIZED (
        SELECT
            *,
            hash(module, short_frame, frame_ordinal, name, input_dims, kernel) AS kind_id,
            name = kernel OR name LIKE '(graph) %' AS is_kernel
        FROM query_table(work_items)
    ),

    kinds AS MATERIALIZED (
        SELECT
            side,
            kind_id,
            module,
            short_frame,
            frame_ordinal,
            name,
            any_value(short_name) AS short_name,
            input_dims,
            kernel,
            is_kernel,
            any_value(short_name) IN (SELECT op.short_name FROM query_table(ops_in_names) AS op)
                AS is_in_names,
            row_number() OVER (PARTITION BY side, name ORDER BY min(start_ns), kind_id) AS number,
            count(*) OVER (PARTITION BY side, name) AS kinds_of_name
        FROM work_item_kinds
        GROUP BY
            side, kind_id, module, short_frame, frame_ordinal, name, input_dims, kernel, is_kernel
    ),

    -- The keys by which kinds of the two sides match, from the most to the least reliable.
    keys AS MATERIALIZED (
        SELECT
            side,
            kind_id,
            unnest([
                if(
                    short_frame IS NOT NULL, hash(1, module, short_frame, frame_ordinal, name), NULL
                ),
                if(short_frame IS NOT NULL, hash(2, short_frame, name), NULL),
                if(input_dims IS NOT NULL, hash(3, name, input_dims), NULL),
                if(
                    input_dims IS NOT NULL AND kinds_of_name > 1,
                    hash(4, name, kinds_of_name, number),
                    NULL
                ),
                -- Operators that a fused kernel lists match that kernel instead.
                if(is_in_names, NULL, hash(5, name)),
                -- Match operators of one side with activities of the other side that belong to no
                -- operator.
                if(kernel IS NOT NULL, hash(6, kernel, is_kernel = (side = 'base')), NULL),
                if(is_in_names, NULL, hash(7, CASE
                    WHEN short_name IN ('linear', 'addmm', 'mm', 'bmm', 'matmul') THEN 'matmul'
                    WHEN contains(short_name, 'scaled_dot_product') THEN 'attention'
                    ELSE short_name
                END))
            ]) AS key,
            unnest(range(1, 8)) AS level
        FROM kinds
    ),

    -- A kind that has a counterpart at a level is done. The others go on to the next level.
    levels AS (
        SELECT side, kind_id, 0 AS level, FALSE AS is_found, NULL::UBIGINT AS key
        FROM kinds
        UNION ALL
        SELECT
            levels.side,
            levels.kind_id,
            keys.level,
            keys.key IS NOT NULL
            AND min(levels.side) OVER same_key <> max(levels.side) OVER same_key AS is_found,
            keys.key
        FROM levels
        INNER JOIN keys
            ON
                levels.side = keys.side
                AND levels.kind_id = keys.kind_id
                AND levels.level + 1 = keys.level
        WHERE NOT levels.is_found
        WINDOW same_key AS (PARTITION BY keys.key)
    )

    SELECT
        work_item_kinds.side,
        work_item_kinds.work_item_id,
        coalesce(
            levels.key,
            hash(
                work_item_kinds.side,
                work_item_kinds.name,
                work_item_kinds.module,
                work_item_kinds.short_frame
            )
        ) AS group_id,
        coalesce(
            ['source', 'source', 'shapes', 'order', 'name', 'kernel', 'name'][levels.level],
            'none'
        ) AS evidence
    FROM work_item_kinds
    LEFT JOIN levels
        ON
            work_item_kinds.side = levels.side
            AND work_item_kinds.kind_id = levels.kind_id
            AND levels.is_found;
