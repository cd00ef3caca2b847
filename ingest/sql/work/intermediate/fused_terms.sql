-- The work of fused kernels in compile logs, by the formulas of operators.
-- One row: a term of a measure of a fused kernel call: symbolic sizes (`printed_size`), and a
-- factor to multiply them by. Measures are `flops`, `product` (the flops of products), `read` and
-- `written` (bytes), and `used`: those of both if the kernel may use parts of them. `factor` is
-- null if a size is no product, or if a node has no formula (`has_formula`).
-- Materialised: each call of a graph reads it.
WITH
listed AS (SELECT unnest(operators) AS op, formula, kind, flops FROM formulas),

formed AS (
    SELECT
        nodes.*,
        if(is_product(listed.kind), 'product', 'flops') AS measure,
        CASE
            WHEN
                moves_data(nodes.op) OR listed.flops = '0' OR starts_with(nodes.shape, 'Sym(')
                THEN 'none'
            WHEN listed.formula IN ('mm', 'bmm', 'linear') THEN 'product'
            WHEN listed.formula IN ('addmm', 'baddbmm') THEN 'added product'
            WHEN
                listed.kind = 'elementwise'
                AND listed.formula NOT IN ('act_and_mul', 'loss', 'nll_loss')
                THEN 'result'
            WHEN regexp_matches(nodes.op, '^prims::(inductor_rand|fma)') THEN 'result'
            WHEN listed.kind = 'reduction' AND listed.formula <> 'max_pool' THEN 'input'
        END AS form
    FROM fused_nodes AS nodes
    LEFT JOIN listed ON nodes.op = listed.op
),

sized AS (
    SELECT
        source_id,
        compiled_graph_id,
        ordinal,
        measure,
        form IS NOT NULL AS has_formula,
        printed_dtype(coalesce(shape, inputs[1])) AS dtype,
        printed_size(CASE form
            WHEN 'none' THEN 'f32[]'
            WHEN 'result' THEN shape
            WHEN 'input' THEN inputs[1]
            -- Each element of the result is a sum over the last axis of the first factor.
            WHEN 'product' THEN rtrim(shape, ']') || regexp_extract(inputs[1], ', [^ ]+\]$')
            WHEN 'added product' THEN rtrim(shape, ']') || regexp_extract(inputs[2], ', [^ ]+\]$')
        END) AS size,
        CASE form WHEN 'none' THEN 0 WHEN 'result' THEN 1 WHEN 'input' THEN 1 ELSE 2 END AS each
    FROM formed
),

parted AS (
    SELECT DISTINCT source_id, compiled_graph_id, node
    FROM staged_nodes
    WHERE stage = 'aten' AND takes_part(dispatched(target))
),

calls AS (
    SELECT
        *,
        EXISTS (
            FROM parted
            WHERE
                parted.source_id = calls.source_id
                AND parted.compiled_graph_id = calls.compiled_graph_id
                AND list_contains(calls.aten_nodes, parted.node)
        ) AS takes_part
    FROM staged_kernel_calls AS calls
    WHERE NOT contains(calls.kernel, '.')
),

arguments AS (
    SELECT *, 'read' AS measure, unnest(reads) AS type FROM calls
    UNION ALL
    SELECT *, 'written' AS measure, unnest(writes) AS type FROM calls
),

terms AS (
    SELECT
        source_id,
        compiled_graph_id,
        ordinal,
        measure,
        has_formula,
        dtype,
        size['symbols'] AS symbols,
        each * size['factor'] AS factor
    FROM sized
    UNION ALL BY NAME
    SELECT
        source_id,
        compiled_graph_id,
        ordinal,
        if(takes_part, 'used', measure) AS measure,
        TRUE AS has_formula,
        printed_size(type)['symbols'] AS symbols,
        dtype_bytes(printed_dtype(type)) * printed_size(type)['factor'] AS factor
    FROM arguments
    UNION ALL BY NAME
    -- Sums of a kernel whose nodes all count elsewhere, and of one without inputs, are 0.
    SELECT
        source_id,
        compiled_graph_id,
        ordinal,
        unnest(if(reads IS NULL OR takes_part, ['flops'], ['flops', 'read'])) AS measure,
        TRUE AS has_formula,
        '' AS symbols,
        0 AS factor
    FROM calls
    WHERE len(aten_nodes) > 0
)

SELECT
    source_id,
    compiled_graph_id,
    ordinal,
    measure,
    has_formula,
    symbols,
    -- A sum skips nulls.
    if(count(factor) = count(*), sum(factor), NULL) AS factor,
    arg_max(dtype, factor) AS dtype
FROM terms
GROUP BY source_id, compiled_graph_id, ordinal, measure, has_formula, symbols;
