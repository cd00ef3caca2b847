-- What nests on a thread: everything of the host, and the operators by themselves.
CREATE TABLE host_spans AS
SELECT
    lanes.lane,
    complete.event_id AS span_id,
    complete.start_ns,
    complete.end_ns,
    complete.end_ns AS nest_end_ns,
    complete.event_index
FROM complete
INNER JOIN lanes USING (source_id, pid, tid)
WHERE complete.side = 'host';

CREATE TABLE op_spans AS
SELECT host_spans.*
FROM host_spans
INNER JOIN complete ON host_spans.span_id = complete.event_id
WHERE complete.category IN ('cpu_op', 'user_annotation');
