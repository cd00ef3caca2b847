-- Part of `module_ranking` and `module_ranking_of_steps`: time and memory of the nn.Modules in a
-- range of steps: `module_sums(run, from_step, to_step)`. A null run stands for all runs, and a
-- null bound leaves the range open.
-- One row: a module inside the modules around it, in one rank of a run.
--
-- run_id, rank
-- module_id  identifies the module and those around it by name (`module_tree.module_id`); the same
--            number in all runs
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
CREATE MACRO module_sums(run := NULL, from_step := NULL, to_step := NULL) AS TABLE
    SELECT
        run_id,
        calls.rank,
        module_id,
        parent_id,
        module,
        name,
        class,
        depth,
        sum(COLUMNS([
            'calls', 'total_ns', 'self_ns', 'device_ns', 'idle_ns', 'cpu_bytes',
            'device_bytes', 'flops'
        ]))::BIGINT
    FROM module_calls AS calls
    WHERE is_asked(run_id, step, run, from_step, to_step)
    GROUP BY ALL;
