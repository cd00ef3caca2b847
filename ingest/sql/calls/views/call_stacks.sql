-- The call tree of a run for flame graphs: calls, and below them the device activities that they
-- launched: `call_stacks(run)`.
-- One row: a call in its calls, or an activity in those that launched it, on a thread in a step.
--
-- rank            rank of the process
-- pid             process; null for activities without a launch
-- tid             thread; null for activities without a launch
-- step            innermost step around the starts of the calls; null outside of steps
-- id              stands for the names of the calls around it and its own; the same in all runs
-- caller_id       the call around it (`call_stacks.id`); null for the outermost
-- module_id       innermost module around it, or itself (`module_tree.module_id`); null in none
-- category        as in `call_tree`, but `module` for the frame of an nn.Module; `kernel` for a
--                 device activity, and for `(no launch)`, around those without a launch
-- name            name of the call, or of the activity
-- calls           number of calls, or of activities
-- self_ns         host time in it and in no call inside it, ns; 0 for an activity
-- self_device_ns  device time of an activity, ns; 0 for a call; null without a device
-- self_idle_ns    idle time of devices that an activity ended, ns; 0 for a call; null without a
--                 device
-- self_cpu_bytes  change of allocated host memory in it and in no call inside it; null if memory
--                 was not recorded, and for an activity
-- self_device_bytes  the same for device memory
CREATE MACRO call_stacks(run) AS TABLE
    SELECT
        rank,
        pid,
        tid,
        step,
        path_id::VARCHAR AS id,
        any_value(caller_path_id)::VARCHAR AS caller_id,
        any_value(module_id) AS module_id,
        if(is_module(min(name)), 'module', any_value(category)) AS category,
        min(name) AS name,
        sum(calls)::BIGINT AS calls,
        sum(self_ns)::BIGINT AS self_ns,
        if(count(device_ns) > 0, 0, NULL) AS self_device_ns,
        if(count(device_ns) > 0, 0, NULL) AS self_idle_ns,
        sum(self_cpu_bytes)::BIGINT AS self_cpu_bytes,
        sum(self_device_bytes)::BIGINT AS self_device_bytes
    FROM call_tree
    WHERE run_id = run AND path_id IS NOT NULL
    GROUP BY rank, pid, tid, step, path_id
    UNION ALL
    SELECT
        rank,
        pid,
        tid,
        step,
        concat(coalesce(path_id::VARCHAR, no_launch()), ' ', name) AS id,
        coalesce(path_id::VARCHAR, no_launch()) AS caller_id,
        module_id,
        'kernel' AS category,
        name,
        activities AS calls,
        0 AS self_ns,
        device_ns AS self_device_ns,
        idle_ns AS self_idle_ns,
        NULL AS self_cpu_bytes,
        NULL AS self_device_bytes
    FROM launched_kernels
    WHERE run_id = run
    UNION ALL
    SELECT DISTINCT
        rank,
        NULL AS pid,
        NULL AS tid,
        step,
        no_launch() AS id,
        NULL AS caller_id,
        NULL AS module_id,
        'kernel' AS category,
        no_launch() AS name,
        0 AS calls,
        0 AS self_ns,
        0 AS self_device_ns,
        0 AS self_idle_ns,
        NULL AS self_cpu_bytes,
        NULL AS self_device_bytes
    FROM launched_kernels
    WHERE run_id = run AND path_id IS NULL;
