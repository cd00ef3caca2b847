-- The nn.Modules of a run: their place in the model, time and memory. A module includes the modules
-- inside it.
-- One row: a module in the modules around it, in one rank of a run.
-- Start here: Which modules take the time and the memory?
--
-- run_id        the run
-- rank          rank of the process
-- module_id     the module and those around it, by name (`module_tree.module_id`): the same number
--               in all runs
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
