-- Time and memory of each nn.Module in each step. A module includes the modules inside it.
-- One row: a module inside the modules around it, in one step of one rank of a run.
--
-- run_id, rank
-- step       innermost step that contains the start of the calls in it (`steps.step`); null outside
--            steps
-- module_id  identifies the module and those around it by name (`module_tree.module_id`)
-- parent_id, module
-- name       name of the module: its class and torch's number for it
-- class      class of the module
-- depth      number of modules around it
-- calls
-- total_ns   host time in the module, ns
-- self_ns    host time in the module but in no module inside it, ns
-- device_ns  time of the device activities launched in it, or recorded in it by a CUDA graph, ns;
--            null without a device
-- idle_ns    idle time of devices directly before the launched activities, ns; null without a
--            device
-- cpu_bytes, device_bytes
-- flops      floating-point operations of the operators called in it, as torch counts them; null if
--            torch counts none, for example because shapes were not recorded
WITH
own AS (
    SELECT
        run_id,
        rank,
        step,
        module_id,
        sum(calls) FILTER (WHERE category = 'python_function' AND is_module(name)) AS calls,
        sum(self_ns) AS total_ns,
        -- 0 and not null if the run has a device; `launched_kernels` has the time.
        if(count(self_device_ns) > 0, 0, NULL) AS device_ns,
        if(count(self_idle_ns) > 0, 0, NULL) AS idle_ns,
        sum(self_cpu_bytes) AS cpu_bytes,
        sum(self_device_bytes) AS device_bytes,
        sum(flops - repeated_flops) AS flops
    FROM call_tree
    WHERE module_id IS NOT NULL
    GROUP BY run_id, rank, step, module_id
    UNION ALL BY NAME
    SELECT
        run_id,
        rank,
        step,
        module_id,
        0 AS total_ns,
        sum(device_ns) AS device_ns,
        sum(idle_ns) AS idle_ns
    FROM launched_kernels
    WHERE module_id IS NOT NULL
    GROUP BY run_id, rank, step, module_id
),

-- A call in a module also counts in all modules around it.
inside AS (
    SELECT own.*, unnest(tree.around) AS around_id
    FROM own
    INNER JOIN module_tree AS tree USING (run_id, module_id)
),

sums AS (
    SELECT
        run_id,
        rank,
        step,
        around_id AS module_id,
        coalesce(sum(calls) FILTER (WHERE module_id = around_id), 0)::BIGINT AS calls,
        sum(total_ns)::BIGINT AS total_ns,
        coalesce(sum(total_ns) FILTER (WHERE module_id = around_id), 0)::BIGINT AS self_ns,
        sum(COLUMNS(['device_ns', 'idle_ns', 'cpu_bytes', 'device_bytes', 'flops']))::BIGINT
    FROM inside
    GROUP BY run_id, rank, step, around_id
)

SELECT
    sums.run_id,
    sums.rank,
    sums.step,
    sums.module_id,
    tree.parent_id,
    tree.module,
    tree.name,
    tree.class,
    tree.depth,
    sums.calls,
    sums.total_ns,
    sums.self_ns,
    sums.device_ns,
    sums.idle_ns,
    sums.cpu_bytes,
    sums.device_bytes,
    sums.flops
FROM sums
INNER JOIN module_tree AS tree USING (run_id, module_id);
