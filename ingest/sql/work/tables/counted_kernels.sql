-- Kernels that hardware counters measured, with their launches and the work that the counters show.
-- `cupti_counters` has all counters.
-- One row: a measured kernel.
--
-- Such a recording has no events for the kernels themselves. The n-th measurement of a file belongs
-- to the n-th kernel launch. If the numbers of measurements and launches differ, the launches are
-- unknown.
--
-- run_id, source_id, rank
-- event_id        the measurement (`events.event_id`)
-- kernel          name of the kernel
-- ordinal         number of the measurement in its file, from 1
-- launch_id       the launching call (`events.event_id`); null if unknown
-- launch_ns, op_id
-- op              name of the innermost cpu_op around the launch
-- op_stack        names of all operators and annotations around the launch, outermost first
-- work_op_id      the operator around the launch that counts its work (`op_work.op_id`)
-- step            step of the launch (`steps.step`)
-- measured_flops  floating-point operations that the CUDA cores executed; null unless all counters
--                 of torch's `kineto__cuda_core_flops` were recorded, and for kernels on tensor
--                 cores
-- measured_bytes  bytes that were read from the device's memory and written to it; null if not
--                 recorded
WITH
counts AS (
    SELECT
        event_id,
        regexp_extract(counter, '^smsp__sass_thread_inst_executed_op_(\w+)_pred_on\.sum$', 1)
            AS instruction,
        counter,
        value
    FROM staged_counters
),

works AS (
    SELECT
        event_id,
        coalesce(
            max(value) FILTER (WHERE counter = 'sm__inst_executed_pipe_tensor.sum') > 0, FALSE
        ) AS is_on_tensor_cores,
        if(
            count(DISTINCT instruction) FILTER (WHERE instruction <> '') = 9,
            sum(value * if(instruction LIKE '%fma', 2, 1)) FILTER (WHERE instruction <> ''),
            NULL
        ) AS flops,
        coalesce(
            sum(value) FILTER (WHERE counter = 'dram__bytes.sum'),
            sum(value) FILTER (WHERE counter = 'dram__bytes_read.sum')
            + sum(value) FILTER (WHERE counter = 'dram__bytes_write.sum')
        ) AS bytes
    FROM counts
    GROUP BY event_id
),

measured AS (
    SELECT
        each.source_id,
        each.rank,
        each.event_id,
        each.name AS kernel,
        row_number() OVER in_file AS ordinal,
        count(*) OVER (PARTITION BY each.source_id) AS measured,
        if(works.is_on_tensor_cores OR uses_matrix_cores(each.name), NULL, works.flops) AS flops,
        works.bytes
    FROM complete AS each
    LEFT JOIN works ON each.event_id = works.event_id
    WHERE each.category = 'cuda_profiler_range' AND EXISTS (SELECT 1 FROM staged_counters)
    WINDOW in_file AS (PARTITION BY each.source_id ORDER BY each.start_ns, each.event_id)
),

launched AS (
    SELECT
        call.source_id,
        call.event_id AS launch_id,
        call.lane,
        call.start_ns AS launch_ns,
        nullif(host_nest.step, -1) AS step,
        row_number() OVER in_file AS ordinal,
        count(*) OVER (PARTITION BY call.source_id) AS launched
    FROM complete AS call
    LEFT JOIN host_nest ON call.event_id = host_nest.event_id
    WHERE
        call.category IN ('cuda_runtime', 'cuda_driver')
        AND regexp_matches(call.name, '(?i)Launch.*Kernel')
    WINDOW in_file AS (PARTITION BY call.source_id ORDER BY call.start_ns, call.event_id)
),

matched AS (
    SELECT measured.*, launched.* EXCLUDE (source_id, ordinal, launched)
    FROM measured
    LEFT JOIN launched
        ON
            measured.source_id = launched.source_id
            AND measured.ordinal = launched.ordinal
            AND measured.measured = launched.launched
),

stacks AS (
    SELECT
        matched.event_id,
        arg_max(op.event_id, op_nest.depth) FILTER (WHERE op.category = 'cpu_op') AS op_id,
        arg_max(op.name, op_nest.depth) FILTER (WHERE op.category = 'cpu_op') AS op,
        list(op.name ORDER BY op_nest.depth) AS op_stack
    FROM matched
    INNER JOIN complete AS op
        ON
            matched.lane = op.lane
            AND matched.launch_ns >= op.start_ns
            AND matched.launch_ns < op.end_ns
    INNER JOIN op_nest ON op.event_id = op_nest.event_id
    GROUP BY matched.event_id
)

SELECT
    matched.source_id,
    matched.rank,
    matched.event_id,
    matched.kernel,
    matched.ordinal,
    matched.launch_id,
    matched.launch_ns,
    stacks.op_id,
    stacks.op,
    stacks.op_stack,
    if(matched.launch_ns < work.end_ns, work.op_id, NULL) AS work_op_id,
    matched.step,
    if(matched.flops >= 0, try_cast(matched.flops AS BIGINT), NULL) AS measured_flops,
    if(matched.bytes >= 0, try_cast(matched.bytes AS BIGINT), NULL) AS measured_bytes
FROM matched
LEFT JOIN stacks ON matched.event_id = stacks.event_id
ASOF LEFT JOIN op_work_spans AS work
    ON matched.lane = work.lane AND matched.launch_ns >= work.start_ns
ORDER BY matched.source_id, matched.ordinal;
