-- Shapes of the inputs of operators and annotations. A call that torch counts together with its
-- caller has the shapes of that caller here.
-- One row: a call of an operator or annotation with recorded shapes.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH recorded AS (SELECT event_id, input_dims FROM ops WHERE input_dims IS NOT NULL)

SELECT event_id, input_dims
FROM recorded
ANTI JOIN inner_repeats USING (event_id)
UNION ALL
SELECT inner_repeats.event_id, recorded.input_dims
FROM inner_repeats
INNER JOIN recorded ON inner_repeats.outermost_id = recorded.event_id;
