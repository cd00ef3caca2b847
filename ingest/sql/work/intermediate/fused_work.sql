-- Work of calls of fused kernels that a compile log describes.
-- One row: a call of such a kernel.
-- Materialised: it is joined.
--
-- op_id          the operator (`ops.event_id`)
-- is_product     whether it computes a product; then only that counts
-- dtype          type of the largest result that counts
-- flops          floating-point operations
-- flops_reason   why they are unknown: formula (no formula lists a node of the kernel) or inputs (a
--                symbolic size is unknown)
-- bytes_read     bytes of its inputs
-- bytes_written  bytes of its results
-- bytes_at_most  bytes of both; null if both are known
WITH
terms AS (
    SELECT
        calls.event_id AS op_id,
        term.measure,
        bool_or(term.measure = 'product') OVER (PARTITION BY calls.event_id) AS is_product,
        term.has_formula,
        term.factor,
        term.dtype,
        CASE
            WHEN term.symbols = '' OR term.factor = 0 THEN term.factor
            ELSE term.factor * coalesce(
                known.sizes[term.symbols],
                elements(list_transform(
                    string_split(term.symbols, '*'), LAMBDA symbol: known.sizes[symbol]
                ))
            )
        END AS amount
    FROM compiled_graph_calls AS calls
    INNER JOIN fused_terms AS term
        ON
            calls.source_id = term.source_id
            AND calls.compiled_graph_id = term.compiled_graph_id
            AND calls.ordinal = term.ordinal
    LEFT JOIN call_sizes AS known ON calls.region_id = known.region_id
    WHERE calls.event_id IS NOT NULL
),

sums AS (
    SELECT
        op_id,
        is_product,
        CASE measure WHEN 'product' THEN 'flops' ELSE measure END AS measure,
        bool_and(has_formula) AS has_formula,
        arg_max(dtype, amount) AS dtype,
        if(count(amount) = count(*), try_cast(sum(amount) AS BIGINT), NULL) AS amount
    FROM terms
    WHERE NOT (is_product AND measure = 'flops')
    GROUP BY op_id, is_product, measure
)

SELECT
    op_id,
    is_product,
    any_value(dtype) FILTER (WHERE measure = 'flops') AS dtype,
    any_value(amount) FILTER (WHERE measure = 'flops') AS flops,
    CASE
        WHEN flops IS NULL
            THEN if(bool_and(has_formula) FILTER (WHERE measure = 'flops'), 'inputs', 'formula')
    END AS flops_reason,
    any_value(amount) FILTER (WHERE measure = 'read') AS bytes_read,
    any_value(amount) FILTER (WHERE measure = 'written') AS bytes_written,
    any_value(amount) FILTER (WHERE measure = 'used') AS bytes_at_most
FROM sums
GROUP BY op_id, is_product;
