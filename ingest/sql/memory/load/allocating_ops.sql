-- What ran when memory was allocated: the innermost operator and the innermost module.
-- One row: a moment of an allocation inside at least one of them.
-- Materialised: its reader joins it, and DuckDB then knows its size.
SELECT
    lane,
    from_ns,
    arg_max(event_id, position) FILTER (WHERE is_op) AS op_id,
    arg_max(name, position) FILTER (WHERE is_op) AS op,
    arg_max(name, position) FILTER (WHERE NOT is_op) AS module
FROM overlapping('allocating_spans', 'alloc_moments')
GROUP BY lane, from_ns;
