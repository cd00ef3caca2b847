-- The nn.Modules of a run: their position in the model, time and memory. A module includes the
-- modules inside it.
-- One row: a module inside the modules around it, in one rank of a run.
-- Start here: Which modules take the time and the memory?
--
-- run_id, rank
-- module_id  identifies the module and those around it by name (`module_tree.module_id`); the same
--            number in all runs
-- parent_id  the module directly around it (`module_tree.module_id`); null for outermost modules
-- module     path of the module: the names of the modules around it and its own, outermost first,
--            joined by `/`
-- name       name of the module: its class and torch's number for it
-- class      class of the module
-- depth      number of modules around it
-- calls      number of calls
-- total_ns   host time in the module, ns
-- self_ns    host time in the module but in no module inside it, ns
-- device_ns  time of the device activities launched in it, or recorded in it by a CUDA graph, ns;
--            null without a device
-- idle_ns    idle time of devices directly before the launched activities, ns; null without a
--            device
-- cpu_bytes, device_bytes
-- flops      floating-point operations of the operators called in it, as torch counts them; null if
--            torch counts none, for example because shapes were not recorded
SELECT
    run_id,
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
GROUP BY run_id, rank, module_id, parent_id, module, name, class, depth;
