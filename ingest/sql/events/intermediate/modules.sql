-- Modules that may be around a point in time, with `nesting_order` as in `cpu_ops`.
-- One row: a Python frame that is an nn.Module.
SELECT
    lane,
    source_id,
    name,
    start_ns,
    end_ns,
    row_number() OVER (ORDER BY start_ns, end_ns DESC, event_index, event_id) AS nesting_order
FROM complete
WHERE category = 'python_function' AND is_module(name);
