-- Part of `key_averages`: what torch's tables count, before it is grouped by name. A call that
-- contains exactly one call, of the same name, is counted once, without the inner one.
-- One row: a row of `call_tree`, or an event of a device.
--
-- run_id         the run
-- rank           rank of the process
-- step           innermost step around the starts of the calls (`steps.step`); null outside of
--                steps
-- path_id        the call (`call_tree.path_id`); null for what has no place in the tree
-- name           name as torch's tables have it
-- input_dims     shapes of an operator's inputs, as recorded (JSON); null where not recorded
-- is_on_device   whether it ran on a device
-- is_annotation  whether it is an annotation, such as of `record_function`
-- calls          number of calls, or of device activities
-- cpu_total_ns   sum of their durations on the host, ns
-- cpu_self_ns    time in the calls and in no call inside them, ns
-- device_total_ns  device time, ns: of a device activity its own, of a call all that it launched;
--                null without a device
-- device_self_ns   the same without what calls inside launched, ns
-- cpu_memory_bytes          change of allocated host memory during the calls, bytes; null if memory
--                           was not recorded
-- self_cpu_memory_bytes     the same without the calls inside
-- device_memory_bytes       change of allocated device memory during the calls, bytes; null if
--                           memory was not recorded
-- self_device_memory_bytes  the same without the calls inside
-- flops          floating-point operations as torch counts them; null without shapes
SELECT
    run_id,
    rank,
    step,
    path_id,
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
    NULL AS path_id,
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
