-- Which work of one run stands against which of another:
-- `alignment(base, other, rank := NULL)`. Units are aligned by where they come from; every unit
-- of both sides is in exactly one group.
-- One row: a unit of `compared_units`.
--
-- side      base or other
-- unit_id   as in `compared_units`
-- group_id  the same for what stands against each other
-- evidence  provenance: torch's compile log names the operators that the kernel computes. source:
--           the same function of the user, in the same nn.Modules. shapes: the same name and
--           shapes. order: the same place in the order of execution, of a compiled function or
--           of the operators of a name. kernel: the same kernel, by itself or in a graph. fusion:
--           the fused kernel's name names the operator. name: the same name, no more. none: there
--           is nothing on the other side
CREATE MACRO alignment(base, other, rank := NULL) AS TABLE
    WITH RECURSIVE
    compared AS MATERIALIZED (
        SELECT
            *,
            regexp_matches(name, '^(\(graph\) )?(triton|cpp)_.*fused_') AS is_fused
        FROM compared_units(base, other, rank := rank)
    ),

    -- The side whose kernels do the work of several operators of the other: the compiled one, best
    -- that with provenance; of two such, and of none, the second run.
    coarse AS (
        SELECT
            coalesce(
                max(side) FILTER (WHERE region_id IS NOT NULL),
                max(side) FILTER (WHERE is_fused),
                'other'
            ) AS side
        FROM compared
    ),

    units AS MATERIALIZED (
        SELECT compared.*, sides.steps, compared.side = coarse.side AS is_coarse
        FROM compared
        INNER JOIN compared_runs(base, other, rank := rank) AS sides ON compared.side = sides.side
        CROSS JOIN coarse
    ),

    compiled_units AS MATERIALIZED (FROM provenance_groups('units', base, other)),

    -- The rest, by what is the same on both sides, the surest first.

    rest AS MATERIALIZED (
        SELECT
            units.*,
            hash(module, place, frame_order, name, input_dims, kernel) AS kind_id,
            name = kernel OR name LIKE '(graph) %' AS is_kernel
        FROM units
        ANTI JOIN compiled_units
            ON units.side = compiled_units.side AND units.unit_id = compiled_units.unit_id
    ),

    -- Fused kernels that no log explains name operators, of which the other side's remain.
    fused AS MATERIALIZED (
        SELECT
            rest.unit_id,
            rest.start_ns,
            hash('fusion', replace(rest.name, '(graph) ', '')) AS group_id,
            concat('_', regexp_extract(rest.name, '_fused_(.*)', 1), '_') AS ops
        FROM rest
        WHERE
            rest.is_fused AND rest.is_coarse AND rest.name NOT IN (
                SELECT kernel.name FROM rest AS kernel WHERE NOT kernel.is_coarse
            )
    ),

    fused_ops AS MATERIALIZED (
        SELECT
            names.short_name,
            fused.group_id,
            fused.unit_id,
            row_number() OVER (
                PARTITION BY names.short_name ORDER BY fused.start_ns, fused.unit_id
            ) AS number,
            count(*) OVER (PARTITION BY names.short_name) AS kernels
        FROM fused
        INNER JOIN (
            SELECT DISTINCT short_name
            FROM rest
            WHERE NOT is_coarse
        ) AS names ON contains(fused.ops, concat('_', names.short_name, '_'))
    ),

    kinds AS MATERIALIZED (
        SELECT
            *,
            row_number() OVER same_name AS kind_number,
            count(*) OVER (PARTITION BY side, name) AS kinds_of_name
        FROM (
            SELECT
                side,
                kind_id,
                any_value(module) AS module,
                any_value(place) AS place,
                any_value(frame_order) AS frame_order,
                any_value(name) AS name,
                any_value(short_name) AS short_name,
                any_value(input_dims) AS input_dims,
                any_value(kernel) AS kernel,
                any_value(is_kernel) AS is_kernel,
                min(start_ns) AS start_ns
            FROM rest
            GROUP BY side, kind_id
        )
        WINDOW same_name AS (PARTITION BY side, name ORDER BY start_ns, kind_id)
    ),

    -- By their kernels, operators of one side meet activities without an operator of the other.
    keys AS MATERIALIZED (
        SELECT
            side,
            kind_id,
            unnest([
                if(place IS NOT NULL, hash(1, module, place, frame_order, name), NULL),
                if(place IS NOT NULL, hash(2, place, name), NULL),
                if(input_dims IS NOT NULL, hash(3, name, input_dims), NULL),
                if(
                    input_dims IS NOT NULL AND kinds_of_name > 1,
                    hash(4, name, kinds_of_name, kind_number),
                    NULL
                ),
                if(short_name IN (SELECT short_name FROM fused_ops), NULL, hash(5, name)),
                if(kernel IS NOT NULL, hash(6, kernel, is_kernel = (side = 'base')), NULL),
                if(short_name IN (SELECT short_name FROM fused_ops), NULL, hash(7, CASE
                    WHEN short_name IN ('linear', 'addmm', 'mm', 'bmm', 'matmul') THEN 'matmul'
                    WHEN contains(short_name, 'scaled_dot_product') THEN 'attention'
                    ELSE short_name
                END))
            ]) AS key,
            unnest(range(1, 8)) AS level
        FROM kinds
    ),

    -- Level by level: what has a partner there stops, and what has none goes on.
    levels AS (
        SELECT side, kind_id, 0 AS level, FALSE AS found, NULL::UBIGINT AS key
        FROM kinds
        UNION ALL
        SELECT
            levels.side,
            levels.kind_id,
            keys.level,
            keys.key IS NOT NULL
            AND min(levels.side) OVER same <> max(levels.side) OVER same AS found,
            keys.key
        FROM levels
        INNER JOIN keys
            ON
                levels.side = keys.side
                AND levels.kind_id = keys.kind_id
                AND levels.level + 1 = keys.level
        WHERE NOT levels.found
        WINDOW same AS (PARTITION BY keys.key)
    ),

    by_level AS MATERIALIZED (
        SELECT
            rest.side,
            rest.unit_id,
            rest.short_name,
            rest.start_ns,
            levels.key AS group_id,
            ['source', 'source', 'shapes', 'order', 'name', 'kernel', 'name'][levels.level]
                AS evidence,
            hash(rest.side, rest.name, rest.module, rest.place) AS own_id
        FROM rest
        LEFT JOIN levels
            ON rest.side = levels.side AND rest.kind_id = levels.kind_id AND levels.found
    ),

    -- The operators of a name that are left share the kernels that name them, in their order.
    left_over AS (
        SELECT
            by_level.side,
            by_level.unit_id,
            by_level.short_name,
            row_number() OVER (
                PARTITION BY by_level.short_name ORDER BY by_level.start_ns, by_level.unit_id
            ) AS number,
            count(*) OVER (PARTITION BY by_level.short_name) AS units
        FROM by_level
        INNER JOIN coarse ON by_level.side <> coarse.side
        WHERE by_level.group_id IS NULL
    ),

    by_fusion AS MATERIALIZED (
        SELECT left_over.side, left_over.unit_id, fused_ops.group_id
        FROM left_over
        INNER JOIN fused_ops
            ON
                left_over.short_name = fused_ops.short_name
                AND (left_over.number - 1) * fused_ops.kernels // left_over.units + 1
                = fused_ops.number
    ),

    by_fusion_of_both AS (
        FROM by_fusion
        UNION ALL
        SELECT coarse.side, fused.unit_id, fused.group_id
        FROM fused
        CROSS JOIN coarse
        WHERE fused.group_id IN (SELECT group_id FROM by_fusion)
    )

    SELECT side, unit_id, group_id, evidence FROM compiled_units
    UNION ALL
    SELECT
        by_level.side,
        by_level.unit_id,
        coalesce(by_level.group_id, fusion.group_id, by_level.own_id) AS group_id,
        CASE
            WHEN by_level.group_id IS NOT NULL THEN by_level.evidence
            WHEN fusion.group_id IS NOT NULL THEN 'fusion'
            ELSE 'none'
        END AS evidence
    FROM by_level
    LEFT JOIN by_fusion_of_both AS fusion
        ON by_level.side = fusion.side AND by_level.unit_id = fusion.unit_id;
