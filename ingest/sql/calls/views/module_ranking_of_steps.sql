-- The nn.Modules of a run from one step to another, in the order of the tree:
-- `module_ranking_of_steps(run, from_step, to_step)`. Both steps are included. Without a bound, it
-- is open on that side; without both, it covers the whole recording. A module includes the modules
-- inside it.
-- One row: a module in the modules around it, in one rank.
--
-- rank          rank of the process
-- place         number of the row in the tree: modules inside follow, those with the longest time
--               first
-- module_id     the module and those around it, by name (`module_tree.module_id`)
-- parent_id     those around it (`module_tree.module_id`); null for the outermost
-- module        the module and those around it, outermost first, with `/` between
-- name          the module: its class and torch's number for it
-- class         its class
-- depth         modules around it
-- calls         number of calls
-- total_ns      time in it on the host, ns
-- self_ns       the same without the modules inside, ns
-- device_ns     device time launched in it, ns; null without a device
-- idle_ns       idle time of devices that the launched activities ended, ns; null without a device
-- cpu_bytes     change of allocated host memory in it, bytes; null if memory was not recorded
-- device_bytes  change of allocated device memory in it, bytes; null if memory was not recorded
-- flops         floating-point operations of the operators in it, as torch counts them; null
--               without shapes
CREATE MACRO module_ranking_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    sums AS (
        SELECT
            rank,
            module_id,
            parent_id,
            module,
            name,
            class,
            depth,
            sum(calls)::BIGINT AS calls,
            sum(total_ns)::BIGINT AS total_ns,
            sum(self_ns)::BIGINT AS self_ns,
            sum(device_ns)::BIGINT AS device_ns,
            sum(idle_ns)::BIGINT AS idle_ns,
            sum(cpu_bytes)::BIGINT AS cpu_bytes,
            sum(device_bytes)::BIGINT AS device_bytes,
            sum(flops)::BIGINT AS flops
        FROM module_calls
        WHERE run_id = run AND in_steps(step, from_step, to_step)
        GROUP BY rank, module_id, parent_id, module, name, class, depth
    ),

    -- The largest first, among the modules that are directly inside the same one.
    keys AS (
        SELECT
            inside.rank,
            inside.module_id,
            list(
                row(-around.total_ns, around.name) ORDER BY around.depth
            ) AS key
        FROM (
            SELECT sums.rank, sums.module_id, unnest(tree.around) AS around_id
            FROM sums
            INNER JOIN module_tree AS tree
                ON tree.run_id = run AND sums.module_id = tree.module_id
        ) AS inside
        INNER JOIN sums AS around
            ON inside.rank = around.rank AND inside.around_id = around.module_id
        GROUP BY inside.rank, inside.module_id
    )

    SELECT
        sums.rank,
        row_number() OVER (PARTITION BY sums.rank ORDER BY keys.key) AS place,
        sums.* EXCLUDE (rank)
    FROM sums
    INNER JOIN keys ON sums.rank = keys.rank AND sums.module_id = keys.module_id;
