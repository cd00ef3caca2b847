-- The operators around each launch.
-- One row: a time at which a thread launched something, or recorded a launch in a CUDA graph,
-- inside at least one cpu_op.
-- Materialised: it is joined, and DuckDB then knows its size.
--
-- The top operator is never one of the wrappers that torch.compile, autograd and the profiler put
-- around operators, because their names do not describe the work. Nor does torch.compile's operator
-- around the recording of a graph describe the launches that the graph recorded.
WITH around AS (
    SELECT
        lane,
        from_ns,
        event_id,
        name,
        nesting_order,
        NOT is_wrapper(name) AS works,
        starts_with(name, 'CUDAGraphNode.record') AS records
    FROM overlapping('cpu_ops', 'launch_moments')
)

SELECT
    lane,
    from_ns AS launch_ns,
    arg_max(event_id, nesting_order) AS op_id,
    arg_max(name, nesting_order) AS op,
    arg_min(event_id, nesting_order) FILTER (WHERE works) AS top_op_id,
    arg_min(name, nesting_order) FILTER (WHERE works) AS top_op,
    arg_min(event_id, nesting_order) FILTER (WHERE works AND NOT records) AS recorded_top_op_id,
    arg_min(name, nesting_order) FILTER (WHERE works AND NOT records) AS recorded_top_op
FROM around
GROUP BY lane, from_ns;
