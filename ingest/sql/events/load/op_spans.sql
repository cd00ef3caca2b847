-- Operators and annotations, which nest on their thread by themselves.
-- One row: a span.
SELECT lane, event_id, start_ns, end_ns, event_index
FROM complete
WHERE category IN ('cpu_op', 'user_annotation');
