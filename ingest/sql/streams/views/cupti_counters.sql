-- The hardware counters that CUPTI measured for each kernel, with the operators around the launch.
-- `counted_kernels` says how launches are found.
-- One row: a counter of a kernel.
--
-- run_id, rank
-- event_id   the measurement (`events.event_id`)
-- kernel     name of the kernel
-- ordinal    number of the measurement in its file, from 1
-- counter    CUPTI's name of the counter
-- value      value of the counter
-- launch_id  the launching call (`events.event_id`); null if unknown
-- launch_ns, op_id
-- op         name of the innermost cpu_op around the launch
-- op_stack   names of all operators and annotations around the launch, outermost first
-- step       step of the launch (`steps.step`)
SELECT
    counters.run_id,
    counters.rank,
    counters.event_id,
    measured.kernel,
    measured.ordinal,
    counters.counter,
    counters.value,
    measured.launch_id,
    measured.launch_ns,
    measured.op_id,
    measured.op,
    measured.op_stack,
    measured.step
FROM counters
INNER JOIN counted_kernels AS measured
    ON counters.run_id = measured.run_id AND counters.event_id = measured.event_id;
