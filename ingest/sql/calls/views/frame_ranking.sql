-- Python frames with the time and memory of everything called in them. Recursive calls count once.
-- One row: a Python frame of one rank of a run.
--
-- run_id, rank
-- name       name of the frame: `file(line): function`, or `nn.Module: name`
-- calls
-- total_ns   host time in the frame, ns
-- self_ns    host time in the frame but in no frame or operator inside it, ns
-- device_ns  time of the device activities launched in it, ns; null without a device
-- idle_ns    idle time of devices directly before the launched activities, ns; null without a
--            device
-- cpu_bytes, device_bytes
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
