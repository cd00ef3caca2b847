-- The hardware counters that CUPTI measured for each kernel, with the operators around the launch.
-- One row: a counter of a kernel.
--
-- Such a recording has no events for the kernels themselves. The n-th measurement of a file belongs
-- to the n-th kernel launch. If the numbers of measurements and launches differ, the launches are
-- unknown.
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
WITH
measured AS (
    SELECT
        run_id,
        source_id,
        rank,
        event_id,
        name AS kernel,
        row_number() OVER in_file AS ordinal,
        count(*) OVER (PARTITION BY run_id, source_id) AS measured
    FROM events
    WHERE category = 'cuda_profiler_range'
    WINDOW in_file AS (PARTITION BY run_id, source_id ORDER BY start_ns, event_id)
),

launches AS (
    SELECT
        run_id,
        source_id,
        event_id AS launch_id,
        start_ns AS launch_ns,
        pid,
        tid,
        step,
        row_number() OVER in_file AS ordinal,
        count(*) OVER (PARTITION BY run_id, source_id) AS launched
    FROM events
    WHERE
        category IN ('cuda_runtime', 'cuda_driver')
        AND regexp_matches(name, '(?i)Launch.*Kernel')
    WINDOW in_file AS (PARTITION BY run_id, source_id ORDER BY start_ns, event_id)
),

matched AS (
    SELECT measured.* EXCLUDE (measured), launches.* EXCLUDE (run_id, source_id, ordinal, launched)
    FROM measured
    LEFT JOIN launches
        ON
            measured.run_id = launches.run_id
            AND measured.source_id = launches.source_id
            AND measured.ordinal = launches.ordinal
            AND measured.measured = launches.launched
),

stacks AS (
    SELECT
        matched.run_id,
        matched.event_id,
        arg_max(op.event_id, op.depth) FILTER (WHERE op.category = 'cpu_op') AS op_id,
        arg_max(op.name, op.depth) FILTER (WHERE op.category = 'cpu_op') AS op,
        list(op.name ORDER BY op.depth) AS op_stack
    FROM matched
    INNER JOIN ops AS op
        ON
            matched.run_id = op.run_id
            AND matched.source_id = op.source_id
            AND matched.pid = op.pid
            AND matched.tid = op.tid
            AND matched.launch_ns >= op.start_ns
            AND matched.launch_ns < op.start_ns + op.dur_ns
    GROUP BY matched.run_id, matched.event_id
)

SELECT
    counters.run_id,
    counters.rank,
    counters.event_id,
    matched.kernel,
    matched.ordinal,
    counters.counter,
    counters.value,
    matched.launch_id,
    matched.launch_ns,
    stacks.op_id,
    stacks.op,
    stacks.op_stack,
    matched.step
FROM counters
INNER JOIN matched ON counters.run_id = matched.run_id AND counters.event_id = matched.event_id
LEFT JOIN stacks ON counters.run_id = stacks.run_id AND counters.event_id = stacks.event_id;
