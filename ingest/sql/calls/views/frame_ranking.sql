-- Python frames by what was called in them. What a frame does inside itself counts once.
-- One row: a Python frame of one rank of a run.
--
-- run_id        the run
-- rank          rank of the process
-- name          the frame: `file(line): function`, or `nn.Module: name`
-- calls         number of calls
-- total_ns      time in it on the host, ns
-- self_ns       of that, outside of frames and operators inside it, ns
-- device_ns     durations of the device activities launched in it, ns; null without a device
-- idle_ns       idle time of devices that these activities ended, ns; null without a device
-- cpu_bytes     what it added to the host's memory in use; null where memory was not recorded
-- device_bytes  what it added to the memory in use of devices; null as `cpu_bytes`
SELECT
    run_id,
    rank,
    name,
    sum(calls)::BIGINT AS calls,
    sum(total_ns) FILTER (WHERE NOT is_recursive)::BIGINT AS total_ns,
    sum(self_ns)::BIGINT AS self_ns,
    sum(device_ns) FILTER (WHERE NOT is_recursive)::BIGINT AS device_ns,
    sum(idle_ns) FILTER (WHERE NOT is_recursive)::BIGINT AS idle_ns,
    sum(cpu_bytes) FILTER (WHERE NOT is_recursive)::BIGINT AS cpu_bytes,
    sum(device_bytes) FILTER (WHERE NOT is_recursive)::BIGINT AS device_bytes
FROM call_tree
WHERE category = 'python_function'
GROUP BY run_id, rank, name;
