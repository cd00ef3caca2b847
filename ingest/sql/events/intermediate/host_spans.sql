-- Spans that nest on a thread of the host.
-- One row: a span.
SELECT
    complete.source_id,
    complete.lane,
    complete.event_id,
    complete.start_ns,
    complete.end_ns,
    complete.dur_ns,
    complete.event_index,
    call_names.name_number
FROM complete
INNER JOIN call_names USING (category, name)
WHERE complete.side = 'host';
