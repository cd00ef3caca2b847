-- The call tree of a run for flame graphs: calls, and below them the kernels that they launched:
-- `call_stacks(run)`.
-- One row: a call in its calls, or a kernel in those that launched it, on a thread in a step.
--
-- rank            rank of the process
-- pid             process
-- tid             thread
-- step            innermost step around the starts of the calls; null outside of steps
-- id              stands for the names of the calls around it and its own; the same in all runs
-- caller_id       the call around it (`call_stacks.id`); null for the outermost
-- path_id         the call (`call_tree.path_id`); of a kernel, the operator that launched it
-- category        as in `call_tree`; `kernel` for a device activity
-- name            name of the call, or of the kernel
-- self_ns         host time in it and in no call inside it, ns; 0 for a kernel
-- self_device_ns  device time, ns: of a kernel its own, of a call what it launched outside of any
--                 operator; null without a device
-- self_idle_ns    idle time of devices that its own launches ended, ns; 0 for a kernel; null
--                 without a device
-- self_cpu_bytes  change of allocated host memory in it and in no call inside it, bytes; null for a
--                 kernel, and if memory was not recorded
-- self_device_bytes  the same for device memory
CREATE MACRO call_stacks(run) AS TABLE
    WITH
    launched AS (
        SELECT
            ops.rank,
            ops.pid,
            ops.tid,
            ops.step,
            ops.path_id,
            kernels.name,
            sum(kernels.dur_ns)::BIGINT AS device_ns
        FROM kernels
        INNER JOIN ops ON kernels.run_id = ops.run_id AND kernels.op_id = ops.event_id
        WHERE kernels.run_id = run AND ops.run_id = run
        GROUP BY ALL
    ),

    by_ops AS (
        SELECT rank, pid, tid, step, path_id, sum(device_ns)::BIGINT AS device_ns
        FROM launched
        GROUP BY ALL
    ),

    calls AS (
        SELECT
            rank,
            pid,
            tid,
            step,
            path_id,
            any_value(caller_path_id) AS caller_path_id,
            any_value(category) AS category,
            min(name) AS name,
            sum(self_ns)::BIGINT AS self_ns,
            sum(self_device_ns)::BIGINT AS self_device_ns,
            sum(self_idle_ns)::BIGINT AS self_idle_ns,
            sum(self_cpu_bytes)::BIGINT AS self_cpu_bytes,
            sum(self_device_bytes)::BIGINT AS self_device_bytes
        FROM call_tree
        WHERE run_id = run AND path_id IS NOT NULL
        GROUP BY ALL
    )

    SELECT
        calls.rank,
        calls.pid,
        calls.tid,
        calls.step,
        calls.path_id::VARCHAR AS id,
        calls.caller_path_id::VARCHAR AS caller_id,
        calls.path_id,
        calls.category,
        calls.name,
        calls.self_ns,
        calls.self_device_ns - coalesce(by_ops.device_ns, 0) AS self_device_ns,
        calls.self_idle_ns,
        calls.self_cpu_bytes,
        calls.self_device_bytes
    FROM calls
    LEFT JOIN by_ops
        ON
            calls.rank = by_ops.rank
            AND calls.pid = by_ops.pid
            AND calls.tid = by_ops.tid
            AND calls.step IS NOT DISTINCT FROM by_ops.step
            AND calls.path_id = by_ops.path_id
    UNION ALL
    SELECT
        rank,
        pid,
        tid,
        step,
        concat(path_id, ' ', name) AS id,
        path_id::VARCHAR AS caller_id,
        path_id,
        'kernel' AS category,
        name,
        0 AS self_ns,
        device_ns AS self_device_ns,
        0 AS self_idle_ns,
        NULL AS self_cpu_bytes,
        NULL AS self_device_bytes
    FROM launched;
