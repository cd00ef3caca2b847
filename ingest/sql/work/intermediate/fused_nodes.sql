-- The lowered nodes that count as work of the fused kernels of compile logs. A log also names a
-- kernel's nodes that an earlier kernel or a library computed, so each node counts once:
--
-- - A node whose operator an extern kernel calls does not count in a fused one.
-- - A product counts only in a template, or if no extern kernel has it among its nodes.
-- - Other nodes count in the first fused kernel that has them.
--
-- One row: a node of a fused kernel call. `op` is its operator as in traces, `shape` the type and
-- shape of its result, `inputs` those of its arguments. Where the log does not tell the nodes of
-- each call of a kernel, `op` is null.
WITH
lowered AS (
    SELECT source_id, compiled_graph_id, node, dispatched(target) AS op, shape, inputs
    FROM staged_nodes
    WHERE stage = 'aten'
    QUALIFY
        row_number() OVER (PARTITION BY source_id, compiled_graph_id, node ORDER BY ordinal) = 1
),

calls AS (
    SELECT
        source_id,
        compiled_graph_id,
        ordinal,
        kernel,
        contains(kernel, '.') AS is_extern,
        starts_with(kernel, 'triton_tem_') AS is_template,
        count(*) OVER (
            PARTITION BY source_id, compiled_graph_id, kernel, aten_nodes
        ) = 1 AS has_own_nodes,
        unnest(aten_nodes) AS node
    FROM staged_kernel_calls
),

products AS (SELECT unnest(operators) AS op FROM formulas WHERE is_product(kind)),

owned AS (
    SELECT
        calls.source_id,
        calls.compiled_graph_id,
        calls.ordinal,
        calls.node,
        calls.is_extern,
        calls.has_own_nodes,
        CASE
            WHEN NOT calls.has_own_nodes THEN NULL
            -- A kernel can copy an input of the graph to another layout.
            WHEN regexp_full_match(calls.node, '(primals_|tangents_|arg)\d+(_\d+)?') THEN 'input'
            ELSE lowered.op
        END AS op,
        lowered.shape,
        lowered.inputs,
        CASE
            WHEN calls.is_extern THEN coalesce(dispatched(calls.kernel) = lowered.op, FALSE)
            WHEN lowered.op IN (FROM products)
                THEN calls.is_template OR NOT bool_or(calls.is_extern) OVER of_node
            ELSE TRUE
        END AS is_owner
    FROM calls
    LEFT JOIN lowered USING (source_id, compiled_graph_id, node)
    WINDOW
        of_node AS (PARTITION BY calls.source_id, calls.compiled_graph_id, calls.node)
)

SELECT source_id, compiled_graph_id, ordinal, op, shape, inputs
FROM owned
WHERE is_owner
QUALIFY
    NOT is_extern
    AND (NOT has_own_nodes OR row_number() OVER (
        PARTITION BY source_id, compiled_graph_id, node ORDER BY is_extern DESC, ordinal
    ) = 1);
