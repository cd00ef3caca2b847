-- torch.profiler's `key_averages(group_by_input_shape=True)` table for each step:
-- `key_averages_by_shape(run)`. Summed over all steps and the time outside steps, the rows equal
-- torch's.
-- One row: a name with inputs of the same shapes in a step of a rank.
--
-- rank
-- step          innermost step that contains the start of the calls; null outside steps
-- name          name, as in `key_averages`
-- input_shapes  shapes of the inputs, as torch writes them: `[]` for scalars and lists of tensors
-- is_on_device  whether it ran on a device, where rows have no shapes
-- is_annotation
-- calls         number of calls, or of device activities
-- cpu_total_ns, cpu_self_ns, device_total_ns, device_self_ns, cpu_memory_bytes,
-- self_cpu_memory_bytes, device_memory_bytes, self_device_memory_bytes, flops
CREATE MACRO key_averages_by_shape(run) AS TABLE
    SELECT
        rank,
        step,
        name,
        coalesce(torch_shapes(input_dims), '[]') AS input_shapes,
        is_on_device,
        is_annotation,
        sum(COLUMNS([
            'calls', 'cpu_total_ns', 'cpu_self_ns', 'device_total_ns',
            'device_self_ns', 'cpu_memory_bytes', 'self_cpu_memory_bytes',
            'device_memory_bytes', 'self_device_memory_bytes', 'flops'
        ]))::BIGINT
    FROM torch_calls
    WHERE run_id = run
    GROUP BY ALL;
