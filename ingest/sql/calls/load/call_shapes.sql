-- Shapes of the inputs of operators and annotations. torch counts a call together with its caller
-- if the caller has the same name and contains no other call. Such a call has the shapes of that
-- caller here.
-- One row: a call of an operator or annotation with recorded shapes.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH RECURSIVE
inner_repeats AS (
    SELECT call.event_id, call.parent_id
    FROM placed_calls AS call
    INNER JOIN host_nest AS caller ON call.parent_id = caller.event_id
    WHERE caller.repeats
),

outermost AS (
    SELECT event_id, parent_id AS outermost_id
    FROM inner_repeats
    WHERE parent_id NOT IN (SELECT called.event_id FROM inner_repeats AS called)
    UNION ALL
    SELECT inner_repeats.event_id, outermost.outermost_id
    FROM outermost
    INNER JOIN inner_repeats ON outermost.event_id = inner_repeats.parent_id
),

recorded AS (
    SELECT event_id, json_extract(args, '$."Input Dims"')::VARCHAR AS input_dims
    FROM complete
    WHERE category IN ('cpu_op', 'user_annotation')
)

SELECT event_id, input_dims
FROM recorded
ANTI JOIN outermost USING (event_id)
WHERE input_dims IS NOT NULL
UNION ALL
SELECT outermost.event_id, recorded.input_dims
FROM outermost
INNER JOIN recorded ON outermost.outermost_id = recorded.event_id
WHERE recorded.input_dims IS NOT NULL;
