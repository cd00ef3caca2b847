-- The table of torch.profiler's `key_averages()`, for each step. Summed over all steps, and over
-- what lies outside of steps, the rows of a name equal torch's row.
-- One row: a name in a step of a rank, on the host or on a device.
-- Start here: What does torch's own table say?
--
-- run_id         the run
-- rank           rank of the process
-- step           innermost step around the starts of the calls (`steps.step`); null outside of
--                steps
-- name           an operator, annotation, Python frame, runtime function or device activity, as
--                torch's tables name it; `[memory]`: changes of memory during no call
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
