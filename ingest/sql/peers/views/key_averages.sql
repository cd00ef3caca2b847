-- torch.profiler's `key_averages()` table for each step. Summed over all steps and the time outside
-- steps, the rows of a name equal torch's row.
-- One row: a name in a step of a rank, on the host or on a device.
-- Start here: What does torch's own table show?
--
-- run_id                    the run
-- rank                      rank of the process
-- step                      innermost step that contains the start of the calls (`steps.step`);
--                           null outside steps
-- name                      name in torch's tables of an operator, annotation, Python frame,
--                           runtime function or device activity; `[memory]` for memory changes
--                           outside all calls
-- is_on_device              whether it ran on a device
-- is_annotation             whether it is an annotation, for example from `record_function`
-- calls                     number of calls, or of device activities
-- cpu_total_ns              sum of the host durations of the calls, ns; 0 on a device
-- cpu_self_ns               host time in the calls but in no call inside them, ns; 0 on a device
-- device_total_ns           for calls, the time of all device activities that they launched; for
--                           device activities, their own time, ns; null without a device
-- device_self_ns            `device_total_ns` without the activities that calls inside launched, ns
-- cpu_memory_bytes          change of allocated host memory during the calls, bytes; null if memory
--                           was not recorded
-- self_cpu_memory_bytes     `cpu_memory_bytes` without the calls inside
-- device_memory_bytes       change of allocated device memory during the calls, bytes; null if
--                           memory was not recorded
-- self_device_memory_bytes  `device_memory_bytes` without the calls inside
-- flops                     floating-point operations, as torch counts them; null if torch counts
--                           none, for example because shapes were not recorded
SELECT
    run_id,
    rank,
    step,
    name,
    is_on_device,
    is_annotation,
    sum(calls)::BIGINT AS calls,
    sum(cpu_total_ns)::BIGINT AS cpu_total_ns,
    sum(cpu_self_ns)::BIGINT AS cpu_self_ns,
    sum(device_total_ns)::BIGINT AS device_total_ns,
    sum(device_self_ns)::BIGINT AS device_self_ns,
    sum(cpu_memory_bytes)::BIGINT AS cpu_memory_bytes,
    sum(self_cpu_memory_bytes)::BIGINT AS self_cpu_memory_bytes,
    sum(device_memory_bytes)::BIGINT AS device_memory_bytes,
    sum(self_device_memory_bytes)::BIGINT AS self_device_memory_bytes,
    sum(flops)::BIGINT AS flops
FROM torch_calls
GROUP BY run_id, rank, step, name, is_on_device, is_annotation;
