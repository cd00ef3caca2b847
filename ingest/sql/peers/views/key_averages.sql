-- torch.profiler's `key_averages()` table for each step. Summed over all steps and the time outside
-- steps, the rows of a name equal torch's row.
-- One row: a name in a step of a rank, on the host or on a device.
--
-- run_id, rank
-- step   innermost step that contains the start of the calls (`steps.step`); null outside steps
-- name   name in torch's tables of an operator, annotation, Python frame, runtime function or
--        device activity; `[memory]` for memory changes outside all calls
-- is_on_device, is_annotation
-- calls  number of calls, or of device activities
-- cpu_total_ns, cpu_self_ns, device_total_ns, device_self_ns, cpu_memory_bytes,
-- self_cpu_memory_bytes, device_memory_bytes, self_device_memory_bytes, flops
SELECT
    run_id,
    rank,
    step,
    name,
    is_on_device,
    is_annotation,
    sum(COLUMNS([
        'calls', 'cpu_total_ns', 'cpu_self_ns', 'device_total_ns', 'device_self_ns',
        'cpu_memory_bytes', 'self_cpu_memory_bytes', 'device_memory_bytes',
        'self_device_memory_bytes', 'flops'
    ]))::BIGINT
FROM torch_calls
GROUP BY run_id, rank, step, name, is_on_device, is_annotation;
