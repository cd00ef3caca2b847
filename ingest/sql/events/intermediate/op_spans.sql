-- Operators and annotations, for `op_nest`.
-- One row: a span.
SELECT lane, event_id, start_ns, end_ns, event_index
FROM complete
WHERE category IN ('cpu_op', 'user_annotation');
