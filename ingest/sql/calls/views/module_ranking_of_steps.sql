-- The nn.Modules of a run in a range of steps, in tree order: `module_ranking_of_steps(run,
-- from_step, to_step)`. Both bounds are included. A null bound leaves the range open on that side;
-- if both are null, it covers the whole recording. A module includes the modules inside it.
-- One row: a module inside the modules around it, in one rank.
--
-- rank
-- place      position of the row in the tree: a module precedes the modules inside it, and the
--            longest module comes first
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
CREATE MACRO module_ranking_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    sums AS (
        SELECT * EXCLUDE (run_id) FROM module_sums(run, from_step, to_step)
    ),

    -- Sort modules with the same parent by time, longest first.
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
