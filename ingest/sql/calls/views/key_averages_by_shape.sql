-- The table of torch.profiler's `key_averages(group_by_input_shape=True)`, for each step:
-- `key_averages_by_shape(run)`. Over all steps, and those outside (`step` null), the rows add up to
-- torch's.
-- One row: what was called under one name with inputs of the same shapes in a step of a rank.
--
-- rank           rank of the process
-- step           innermost step around their starts; null outside of steps
-- name           name, as in `key_averages`
-- input_shapes   shapes of the inputs as torch writes them: `[]` for scalars and lists of tensors
-- is_on_device   whether it ran on a device: a row of its own, without shapes
-- is_annotation  whether it is an annotation, such as of `record_function`
-- calls          number of calls
-- cpu_total_ns   sum of their durations on the host, ns
-- cpu_self_ns    of that, outside of calls inside, ns
-- device_total_ns  durations of what was launched in the calls, ns; null without a device
-- device_self_ns   of that, launched outside of calls inside, ns
-- cpu_memory_bytes          what the calls added to the host's memory in use; null where memory was
--                           not recorded
-- self_cpu_memory_bytes     of that, outside of calls inside
-- device_memory_bytes       what the calls added to the memory in use of devices; null as
--                           `cpu_memory_bytes`
-- self_device_memory_bytes  of that, outside of calls inside
-- flops          floating-point operations as torch counts them; null without shapes
CREATE MACRO key_averages_by_shape(run) AS TABLE
    SELECT
        rank,
        step,
        name,
        coalesce(torch_shapes(input_dims), '[]') AS input_shapes,
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
    WHERE run_id = run
    GROUP BY ALL
    UNION ALL
    SELECT
        rank,
        step,
        name,
        '[]' AS input_shapes,
        is_on_device,
        is_annotation,
        calls,
        cpu_total_ns,
        cpu_self_ns,
        device_total_ns,
        device_self_ns,
        cpu_memory_bytes,
        self_cpu_memory_bytes,
        device_memory_bytes,
        self_device_memory_bytes,
        flops
    FROM key_averages
    WHERE run_id = run AND is_on_device;
