-- Operators that may be around a point in time. `nesting_order` goes from outermost to innermost:
-- by start, then longest first, then the profiler's own order.
-- One row: a cpu_op.
SELECT
    lane,
    event_id,
    name,
    start_ns,
    end_ns,
    row_number() OVER (ORDER BY start_ns, end_ns DESC, event_index, event_id) AS nesting_order
FROM complete
WHERE category = 'cpu_op';
