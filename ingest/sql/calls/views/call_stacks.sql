-- The call tree of a run for flame graphs: `call_stacks(run)`. Device activities are leaves under
-- the calls that launched them.
-- One row: a call or a device activity under its callers, on one thread in one step.
--
-- rank
-- pid                process; null for activities without a launch
-- tid                thread; null for activities without a launch
-- step               innermost step that contains the start of the calls; null outside steps
-- id                 identifies the call or activity and its callers by name; the same in all runs
-- caller_id          the caller (`call_stacks.id`); null for outermost calls
-- module_id          innermost nn.Module around the call, or the call's own module
--                    (`module_tree.module_id`); null outside modules
-- category           as in `call_tree`, but `module` for the frame of an nn.Module; `kernel` for a
--                    device activity, and for `(no launch)`, the parent of activities without a
--                    launch
-- name               name of the call, or of the activity
-- calls              number of calls, or of activities
-- self_ns            host time in the call but in no call inside it, ns; 0 for an activity
-- self_device_ns     duration of the activities, ns; 0 for a call; null without a device
-- self_idle_ns       idle time of devices directly before the activities, ns; 0 for a call; null
--                    without a device
-- self_cpu_bytes     change of allocated host memory during the call but during no call inside it,
--                    bytes; null for an activity, and if memory was not recorded
-- self_device_bytes  change of allocated device memory during the call but during no call inside
--                    it, bytes; null for an activity, and if memory was not recorded
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
