-- Shapes of the inputs of operators and annotations. A call that torch counts together with its
-- caller has the shapes of that caller here.
-- One row: a call of an operator or annotation with recorded shapes.
-- Materialised: it is joined, and DuckDB then knows its size.
SELECT ops.event_id, ops.input_dims
FROM ops
ANTI JOIN inner_repeats USING (event_id)
WHERE ops.input_dims IS NOT NULL
UNION ALL
SELECT inner_repeats.event_id, ops.input_dims
FROM inner_repeats
INNER JOIN ops ON inner_repeats.outermost_id = ops.event_id
WHERE ops.input_dims IS NOT NULL;
