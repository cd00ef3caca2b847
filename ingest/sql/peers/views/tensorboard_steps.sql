-- The time of each step, divided by the rules of TensorBoard's retired plugin `torch-tb-profiler`.
-- At each point of time, the first of kernel, memcpy, memset, communication, runtime, data loader
-- and CPU that ran anywhere counts, so that the parts add up to the step. `step_parts` has the
-- causes of idle time.
-- One row: a step of an input file.
--
-- As in the plugin, a step lasts until the end of the device activities that it launched, and
-- begins no earlier than the previous step ends. All devices of a process count together. The
-- plugin knows only the event names that torch used in 2021. This view knows the current names: all
-- calls of runtimes and drivers count as runtime, annotations of data loaders as data loader, and
-- all communication kernels and host events of NCCL and Gloo as communication. Steps on the
-- device's timeline (`gpu_user_annotation`) do not count. If the profiler recorded no steps,
-- repeated annotations or modules count as steps, as in `steps`.
--
-- run_id, source_id, rank
-- step              number of the step (`steps.step`); null for a whole recording
-- steps_from
-- start_ns          Unix time at which the step begins, ns
-- dur_ns            length of the step: the sum of its parts, ns
-- kernel_ns         time in which a compute kernel ran, ns
-- memcpy_ns         other time in which a device copied memory, ns
-- memset_ns         other time in which a device set memory, ns
-- communication_ns  other time in which a communication kernel ran, or the host was in NCCL or
--                   Gloo, ns
-- runtime_ns        other time in which the host was in a call of the device's runtime or driver,
--                   ns
-- data_loader_ns    other time in which the host waited for a data loader, ns
-- cpu_ns            other time in which an operator ran on the host, ns
-- other_ns          remaining time, ns
-- activities        number of device activities that the step launched
-- is_complete       false for the last steps of a file if the profiler may have missed some of
--                   their device activities: they launched none, or fewer than 0.8 times those of
--                   the previous step. The plugin omits these steps
WITH
intervals AS (
    SELECT
        run_id,
        source_id,
        CASE kind
            WHEN 'memcpy' THEN 'memcpy'
            WHEN 'memset' THEN 'memset'
            ELSE if(class = 'communication', 'communication', 'kernel')
        END AS part,
        start_ns,
        dur_ns
    FROM kernels
    UNION ALL
    SELECT
        run_id,
        source_id,
        CASE
            WHEN category IN ('cuda_runtime', 'cuda_driver') THEN 'runtime'
            WHEN is_data_loader(name) THEN 'data_loader'
            WHEN regexp_matches(name, '^(nccl|gloo):') THEN 'communication'
            WHEN category = 'cpu_op' AND NOT starts_with(name, 'ProfilerStep#') THEN 'cpu'
        END AS part,
        start_ns,
        dur_ns
    FROM events
    WHERE category IN ('cpu_op', 'user_annotation', 'cuda_runtime', 'cuda_driver')
),

spans AS (
    SELECT
        run_id,
        source_id AS lane,
        start_ns,
        start_ns + dur_ns AS end_ns,
        (part = 'kernel')::INTEGER AS kernel,
        (part = 'memcpy')::INTEGER AS memcpy,
        (part = 'memset')::INTEGER AS memset,
        (part = 'communication')::INTEGER AS communication,
        (part = 'runtime')::INTEGER AS runtime,
        (part = 'data_loader')::INTEGER AS data_loader,
        (part = 'cpu')::INTEGER AS cpu
    FROM intervals
    WHERE part IS NOT NULL AND dur_ns > 0
    UNION ALL BY NAME
    SELECT run_id, source_id AS lane, start_ns, end_ns, ordinal FROM tensorboard_windows
),

-- Steps do not overlap, so the sum of their numbers is the number of the current step.
periods AS (
    SELECT
        run_id,
        lane AS source_id,
        ordinal,
        CASE
            WHEN kernel > 0 THEN 'kernel'
            WHEN memcpy > 0 THEN 'memcpy'
            WHEN memset > 0 THEN 'memset'
            WHEN communication > 0 THEN 'communication'
            WHEN runtime > 0 THEN 'runtime'
            WHEN data_loader > 0 THEN 'data_loader'
            WHEN cpu > 0 THEN 'cpu'
            ELSE 'other'
        END AS part,
        end_ns - start_ns AS ns
    FROM swept('spans')
),

parts AS (
    SELECT run_id, source_id, ordinal, part, sum(ns) AS ns
    FROM periods
    WHERE ordinal > 0
    GROUP BY run_id, source_id, ordinal, part
)

SELECT
    measured.run_id,
    measured.source_id,
    measured.rank,
    measured.step,
    measured.steps_from,
    measured.start_ns,
    measured.end_ns - measured.start_ns AS dur_ns,
    coalesce(sum(parts.ns) FILTER (WHERE parts.part = 'kernel'), 0)::BIGINT AS kernel_ns,
    coalesce(sum(parts.ns) FILTER (WHERE parts.part = 'memcpy'), 0)::BIGINT AS memcpy_ns,
    coalesce(sum(parts.ns) FILTER (WHERE parts.part = 'memset'), 0)::BIGINT AS memset_ns,
    coalesce(sum(parts.ns) FILTER (WHERE parts.part = 'communication'), 0)::BIGINT
        AS communication_ns,
    coalesce(sum(parts.ns) FILTER (WHERE parts.part = 'runtime'), 0)::BIGINT AS runtime_ns,
    coalesce(sum(parts.ns) FILTER (WHERE parts.part = 'data_loader'), 0)::BIGINT AS data_loader_ns,
    coalesce(sum(parts.ns) FILTER (WHERE parts.part = 'cpu'), 0)::BIGINT AS cpu_ns,
    coalesce(sum(parts.ns) FILTER (WHERE parts.part = 'other'), 0)::BIGINT AS other_ns,
    measured.activities,
    measured.is_complete
FROM tensorboard_windows AS measured
LEFT JOIN parts USING (run_id, source_id, ordinal)
GROUP BY ALL
ORDER BY measured.run_id, measured.source_id, measured.start_ns;
