-- Part of `key_averages`: the calls that torch's tables count, before grouping by name. A call that
-- contains exactly one call, which has the same name, counts once, without the inner call.
-- One row: a row of `call_tree`, or a device event.
--
-- run_id, rank
-- step             innermost step that contains the start of the calls (`steps.step`); null outside
--                  steps
-- counted_path_id  the call that torch counts them in (`call_tree.path_id`); null for rows that are
--                  not in the tree of calls
-- name             name in torch's tables
-- input_dims       shapes of an operator's inputs, as recorded (JSON); null if not recorded
-- is_on_device, is_annotation
-- calls            number of calls, or of device activities
-- cpu_total_ns, cpu_self_ns, device_total_ns, device_self_ns, cpu_memory_bytes,
-- self_cpu_memory_bytes, device_memory_bytes, self_device_memory_bytes, flops
SELECT
    run_id,
    rank,
    step,
    coalesce(counted_path_id, path_id) AS counted_path_id,  -- runs of older versions lack it
    name,
    input_dims,
    FALSE AS is_on_device,
    category = 'user_annotation' AS is_annotation,
    calls - repeated_calls AS calls,
    total_ns - repeated_ns AS cpu_total_ns,
    self_ns AS cpu_self_ns,
    device_ns - repeated_device_ns AS device_total_ns,
    self_device_ns AS device_self_ns,
    cpu_bytes - repeated_cpu_bytes AS cpu_memory_bytes,
    self_cpu_bytes AS self_cpu_memory_bytes,
    device_bytes - repeated_device_bytes AS device_memory_bytes,
    self_device_bytes AS self_device_memory_bytes,
    flops - repeated_flops AS flops
FROM call_tree
UNION ALL
SELECT
    run_id,
    rank,
    step,
    NULL AS counted_path_id,
    name,
    NULL AS input_dims,
    TRUE AS is_on_device,
    is_annotation,
    1 AS calls,
    0 AS cpu_total_ns,
    0 AS cpu_self_ns,
    dur_ns AS device_total_ns,
    dur_ns AS device_self_ns,
    NULL AS cpu_memory_bytes,
    NULL AS self_cpu_memory_bytes,
    NULL AS device_memory_bytes,
    NULL AS self_device_memory_bytes,
    NULL AS flops
FROM (
    SELECT run_id, rank, step, name, dur_ns, FALSE AS is_annotation FROM kernels
    UNION ALL
    SELECT run_id, rank, step, torch_name(name, category) AS name, dur_ns, TRUE AS is_annotation
    FROM events
    WHERE category = 'gpu_user_annotation'
);
