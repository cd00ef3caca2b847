-- What `tables/ops.sql` asks about the operators: the moments at which they begin, and the
-- Python frames that are nn.Modules.
CREATE TABLE op_moments AS
SELECT
    lane,
    lane::VARCHAR || ':' || start_ns AS interval_id,
    start_ns AS from_ns,
    start_ns + 1 AS to_ns
FROM (SELECT DISTINCT lane, start_ns FROM op_spans);

CREATE TABLE module_spans AS
SELECT lanes.lane, complete.event_id AS span_id, complete.start_ns, complete.end_ns
FROM complete
INNER JOIN lanes USING (source_id, pid, tid)
WHERE complete.category = 'python_function' AND complete.name LIKE 'nn.Module: %';
