-- The nn.Modules of a run: where each is in the model, and what it took, with all inside it.
-- One row: a module in the modules around it, in one rank of a run.
-- Start here: Which modules take the time and the memory?
--
-- run_id     the run
-- rank       rank of the process
-- module_id  the module and those around it, by name (`call_tree.module_id`): the same number in
--            all runs
-- parent_id  those around it (`module_ranking.module_id`); null for the outermost
-- module     the module and those around it, outermost first, with `/` between
-- name       the module: its class and torch's number for it
-- class      its class
-- depth      modules around it
-- calls      number of calls
-- total_ns   time in it on the host, ns
-- self_ns    of that, outside of the modules inside, ns
-- device_ns  durations of the device activities launched in it, ns; null without a device
-- idle_ns    idle time of devices that these activities ended, ns; null without a device
-- cpu_bytes  what it added to the host's memory in use; null where memory was not recorded
-- device_bytes  what it added to the memory in use of devices; null as `cpu_bytes`
-- flops      floating-point operations of the operators in it, as torch counts them; null without
--            shapes
WITH RECURSIVE
frames AS (
    SELECT
        run_id,
        rank,
        module_id,
        path_id,
        caller_path_id,
        substr(name, 12) AS name,
        sum(calls)::BIGINT AS calls,
        sum(total_ns)::BIGINT AS total_ns,
        sum(device_ns)::BIGINT AS device_ns,
        sum(idle_ns)::BIGINT AS idle_ns,
        sum(cpu_bytes)::BIGINT AS cpu_bytes,
        sum(device_bytes)::BIGINT AS device_bytes
    FROM call_tree
    WHERE category = 'python_function' AND is_module(name)
    GROUP BY run_id, rank, module_id, path_id, caller_path_id, name
),

callers AS (
    SELECT run_id, rank, path_id, any_value(module_id) AS module_id
    FROM call_tree
    GROUP BY run_id, rank, path_id
),

modules AS (
    SELECT
        frames.run_id,
        frames.rank,
        frames.module_id,
        callers.module_id AS parent_id,
        frames.name,
        sum(frames.calls)::BIGINT AS calls,
        sum(frames.total_ns)::BIGINT AS total_ns,
        sum(frames.device_ns)::BIGINT AS device_ns,
        sum(frames.idle_ns)::BIGINT AS idle_ns,
        sum(frames.cpu_bytes)::BIGINT AS cpu_bytes,
        sum(frames.device_bytes)::BIGINT AS device_bytes
    FROM frames
    LEFT JOIN callers
        ON
            frames.run_id = callers.run_id
            AND frames.rank = callers.rank
            AND frames.caller_path_id = callers.path_id
    GROUP BY frames.run_id, frames.rank, frames.module_id, callers.module_id, frames.name
),

placed AS (
    SELECT run_id, rank, module_id, name AS module, 0 AS depth, [module_id] AS around
    FROM modules
    WHERE parent_id IS NULL
    UNION ALL
    SELECT
        modules.run_id,
        modules.rank,
        modules.module_id,
        concat(placed.module, '/', modules.name) AS module,
        placed.depth + 1 AS depth,
        list_append(placed.around, modules.module_id) AS around
    FROM placed
    INNER JOIN modules
        ON
            placed.run_id = modules.run_id
            AND placed.rank = modules.rank
            AND placed.module_id = modules.parent_id
),

operations AS (
    SELECT
        placed.run_id,
        placed.rank,
        placed.around,
        sum(call_tree.flops - call_tree.repeated_flops)::BIGINT AS flops
    FROM call_tree
    INNER JOIN placed
        ON
            call_tree.run_id = placed.run_id
            AND call_tree.rank = placed.rank
            AND call_tree.module_id = placed.module_id
    WHERE call_tree.flops IS NOT NULL
    GROUP BY placed.run_id, placed.rank, placed.around
),

flops AS (
    SELECT run_id, rank, module_id, sum(flops)::BIGINT AS flops
    FROM (SELECT run_id, rank, unnest(around) AS module_id, flops FROM operations)
    GROUP BY run_id, rank, module_id
),

inside AS (
    SELECT run_id, rank, parent_id AS module_id, sum(total_ns)::BIGINT AS total_ns
    FROM modules
    GROUP BY run_id, rank, parent_id
)

SELECT
    modules.run_id,
    modules.rank,
    modules.module_id,
    modules.parent_id,
    placed.module,
    modules.name,
    regexp_replace(modules.name, '_[0-9]+$', '') AS class,
    placed.depth,
    modules.calls,
    modules.total_ns,
    modules.total_ns - coalesce(inside.total_ns, 0) AS self_ns,
    modules.device_ns,
    modules.idle_ns,
    modules.cpu_bytes,
    modules.device_bytes,
    flops.flops
FROM modules
INNER JOIN placed USING (run_id, rank, module_id)
LEFT JOIN inside USING (run_id, rank, module_id)
LEFT JOIN flops USING (run_id, rank, module_id);
