-- The innermost operator and the innermost module that ran when memory was allocated.
-- One row: the time of an allocation inside at least one of them.
-- Materialised: DuckDB then knows its size when it plans a join.
SELECT
    lane,
    from_ns,
    arg_max(event_id, position) FILTER (WHERE is_op) AS op_id,
    arg_max(name, position) FILTER (WHERE is_op) AS op,
    arg_max(name, position) FILTER (WHERE NOT is_op) AS module
FROM overlapping('allocating_spans', 'alloc_moments')
GROUP BY lane, from_ns;
