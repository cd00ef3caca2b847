-- The calls that torch's tables contain, with their start and end.
-- One row: a call of an operator, an annotation, a Python frame or a runtime function.
-- Materialised in small runs: planning it takes longer than reading its rows.
SELECT
    complete.source_id,
    complete.lane,
    complete.event_id,
    complete.category,
    call_names.torch_name,
    complete.start_ns,
    complete.end_ns
FROM complete
INNER JOIN call_names USING (category, name)
WHERE complete.side = 'host' AND call_names.name_id <> 0;
