-- What nests on a thread: everything of the host, and the operators by themselves.
-- One row: a span.
CREATE VIEW host_spans AS
SELECT lane, event_id, start_ns, end_ns, event_index FROM complete WHERE side = 'host';

CREATE VIEW op_spans AS
SELECT lane, event_id, start_ns, end_ns, event_index
FROM complete
WHERE category IN ('cpu_op', 'user_annotation');
