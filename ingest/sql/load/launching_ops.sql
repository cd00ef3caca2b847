-- The operators around each launch.
-- One row: a moment at which a thread launched something inside at least one cpu_op.
--
-- Outermost to innermost is by start, then longest first, then the profiler's own order. The top
-- operator looks through the wrappers that torch.compile, autograd and the profiler put around
-- operators, because they name no work.
CREATE TABLE cpu_op_spans AS
SELECT
    lanes.lane,
    complete.event_id AS span_id,
    complete.start_ns,
    complete.end_ns,
    complete.event_index,
    complete.name
FROM complete
INNER JOIN lanes USING (source_id, pid, tid)
WHERE complete.category = 'cpu_op';

CREATE TABLE launching_ops AS
WITH around AS (
    SELECT
        interval_id,
        span_id,
        name,
        (start_ns, -end_ns, event_index, span_id) AS place,
        NOT is_wrapper(name) AS works
    FROM overlapping('cpu_op_spans', 'launch_moments')
)

SELECT
    interval_id,
    arg_max(span_id, place) AS op_id,
    arg_max(name, place) AS op,
    arg_min(span_id, place) FILTER (WHERE works) AS top_op_id,
    arg_min(name, place) FILTER (WHERE works) AS top_op
FROM around
GROUP BY interval_id;
