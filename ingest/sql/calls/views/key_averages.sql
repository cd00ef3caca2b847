-- The table of torch.profiler's `key_averages()`, for each step. Over all steps, and those outside
-- (`step` null), the rows of a name add up to torch's.
-- One row: what was called under one name in a step of a rank, or ran on its devices.
-- Start here: What does torch's own table say?
--
-- run_id         the run
-- rank           rank of the process
-- step           innermost step around their starts (`steps.step`); null outside of steps
-- name           name as in torch's table: an operator, annotation, Python frame, runtime function,
--                device activity, or `[memory]`: changes of memory during no call
-- is_on_device   whether it ran on a device
-- is_annotation  whether it is an annotation, such as of `record_function`
-- calls          number of calls
-- cpu_total_ns   sum of their durations on the host, ns
-- cpu_self_ns    of that, outside of calls inside, ns
-- device_total_ns  of a device activity its durations, else those of all that was launched in the
--                calls, ns; null without a device
-- device_self_ns   of that, launched outside of calls inside, ns
-- cpu_memory_bytes          what the calls added to the host's memory in use; null where memory was
--                           not recorded
-- self_cpu_memory_bytes     of that, outside of calls inside
-- device_memory_bytes       what the calls added to the memory in use of devices; null as
--                           `cpu_memory_bytes`
-- self_device_memory_bytes  of that, outside of calls inside
-- flops          floating-point operations as torch counts them; null without shapes
SELECT
    run_id,
    rank,
    step,
    name,
    FALSE AS is_on_device,
    category = 'user_annotation' AS is_annotation,
    sum(calls - repeated_calls)::BIGINT AS calls,
    sum(total_ns - repeated_ns)::BIGINT AS cpu_total_ns,
    sum(self_ns)::BIGINT AS cpu_self_ns,
    sum(device_ns - repeated_device_ns)::BIGINT AS device_total_ns,
    sum(self_device_ns)::BIGINT AS device_self_ns,
    sum(cpu_bytes - repeated_cpu_bytes)::BIGINT AS cpu_memory_bytes,
    sum(self_cpu_bytes)::BIGINT AS self_cpu_memory_bytes,
    sum(device_bytes - repeated_device_bytes)::BIGINT AS device_memory_bytes,
    sum(self_device_bytes)::BIGINT AS self_device_memory_bytes,
    sum(flops - repeated_flops)::BIGINT AS flops
FROM call_tree
GROUP BY run_id, rank, step, name, category = 'user_annotation'
UNION ALL
SELECT
    run_id,
    rank,
    step,
    name,
    TRUE AS is_on_device,
    FALSE AS is_annotation,
    count(*) AS calls,
    0 AS cpu_total_ns,
    0 AS cpu_self_ns,
    sum(dur_ns)::BIGINT AS device_total_ns,
    sum(dur_ns)::BIGINT AS device_self_ns,
    NULL AS cpu_memory_bytes,
    NULL AS self_cpu_memory_bytes,
    NULL AS device_memory_bytes,
    NULL AS self_device_memory_bytes,
    NULL AS flops
FROM kernels
GROUP BY run_id, rank, step, name
UNION ALL
SELECT
    run_id,
    rank,
    step,
    torch_name(name, category) AS name,
    TRUE AS is_on_device,
    TRUE AS is_annotation,
    count(*) AS calls,
    0 AS cpu_total_ns,
    0 AS cpu_self_ns,
    sum(dur_ns)::BIGINT AS device_total_ns,
    sum(dur_ns)::BIGINT AS device_self_ns,
    NULL AS cpu_memory_bytes,
    NULL AS self_cpu_memory_bytes,
    NULL AS device_memory_bytes,
    NULL AS self_device_memory_bytes,
    NULL AS flops
FROM events
WHERE category = 'gpu_user_annotation'
GROUP BY run_id, rank, step, torch_name(name, category);
