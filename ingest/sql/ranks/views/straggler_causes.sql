-- Why the straggler of a run is late: what takes it longer than the other ranks.
-- One row: a part of the step, an operator or a kernel that takes the straggler more time in a step
-- than the median of the other ranks.
-- Stored: most runs have no straggler, so queries skip it.
--
-- Rows of a level can be added up; levels show the same time in different ways. More calls mean
-- more work. The same number of calls with a longer mean is the same work that takes longer: with
-- other inputs, or on a slower device (`is_slower`).
--
-- run_id
-- rank           the straggler
-- level          part (a part of the step, without communication), op (an operator, by device time;
--                in a run without a device, by its own time on the host) or kernel
-- name           part of the step, as in `parts`; operator or kernel
-- own_ns         its time in a step of the straggler, mean over the measured steps, ns
-- other_ns       the same in the other ranks, their median, ns
-- excess_ns      difference, ns
-- cost_percent   the difference as a share of what the straggler costs in a step, percent
-- step_calls     number of calls in a step of the straggler, mean; null for parts
-- other_step_calls  the same in the other ranks, their median; null for parts
-- is_slower      whether the straggler makes as many calls as the others, and each takes longer;
--                null for parts
WITH
late AS NOT MATERIALIZED (
    SELECT run_id, stragglers.rank, cost_ns FROM stragglers WHERE is_straggler
),

measured AS NOT MATERIALIZED (
    -- Steps of several files of a rank can have the same number.
    SELECT
        run_id,
        metrics.rank,
        step,
        sum(count(DISTINCT source_id)) OVER (PARTITION BY run_id, metrics.rank) AS steps
    FROM step_metrics AS metrics
    WHERE start_ns IS NOT NULL
    GROUP BY run_id, metrics.rank, step
),

parts AS (
    SELECT
        parts.run_id,
        parts.rank,
        'part' AS level,
        parts.part AS name,
        sum(parts.ns) / any_value(measured.steps) AS ns,
        NULL::DOUBLE AS calls
    FROM step_parts AS parts
    INNER JOIN measured
        ON
            parts.run_id = measured.run_id
            AND parts.rank = measured.rank
            AND parts.step IS NOT DISTINCT FROM measured.step
    WHERE parts.part NOT IN ('communication', 'overlap', 'fill')
    GROUP BY ALL
),

device_work AS (
    SELECT
        kernels.run_id,
        kernels.rank,
        kernels.level,
        kernels.name,
        sum(kernels.dur_ns) / any_value(measured.steps) AS ns,
        count(*) / any_value(measured.steps) AS calls
    FROM ranked_kernels AS kernels
    INNER JOIN measured
        ON
            kernels.run_id = measured.run_id
            AND kernels.rank = measured.rank
            AND kernels.step IS NOT DISTINCT FROM measured.step
    WHERE kernels.level IN ('op', 'kernel') AND kernels.class <> 'communication'
    GROUP BY ALL
),

host_work AS (
    SELECT
        ops.run_id,
        ops.rank,
        'op' AS level,
        ops.name,
        sum(ops.self_ns) / any_value(measured.steps) AS ns,
        count(*) / any_value(measured.steps) AS calls
    FROM ops
    INNER JOIN measured
        ON
            ops.run_id = measured.run_id
            AND ops.rank = measured.rank
            AND ops.step IS NOT DISTINCT FROM measured.step
    INNER JOIN measured_windows AS windows
        ON
            ops.run_id = windows.run_id
            AND ops.source_id = windows.source_id
            AND windows.measure = 'host'
    WHERE ops.category = 'cpu_op' AND NOT starts_with(ops.name, 'c10d::')
    GROUP BY ALL
),

works AS (
    FROM parts
    UNION ALL BY NAME
    FROM device_work
    UNION ALL BY NAME
    FROM host_work
),

ranks AS (
    SELECT run_id, count(DISTINCT measured.rank) AS ranks FROM measured GROUP BY run_id
),

compared AS (
    SELECT
        late.run_id,
        late.rank,
        works.level,
        works.name,
        late.cost_ns,
        sum(works.ns) FILTER (WHERE works.rank = late.rank) AS own_ns,
        sum(works.calls) FILTER (WHERE works.rank = late.rank) AS own_calls,
        list(works.ns) FILTER (WHERE works.rank <> late.rank) AS others_ns,
        list(works.calls) FILTER (WHERE works.rank <> late.rank) AS others_calls,
        any_value(ranks.ranks) - 1 AS others
    FROM works
    INNER JOIN late ON works.run_id = late.run_id
    INNER JOIN ranks ON works.run_id = ranks.run_id
    GROUP BY late.run_id, late.rank, works.level, works.name, late.cost_ns
),

-- A rank without such work spends no time on it.
medians AS (
    SELECT
        *,
        list_median(list_resize(coalesce(others_ns, []), others, 0)) AS other_ns,
        if(
            own_calls IS NULL,
            NULL,
            list_median(list_resize(coalesce(others_calls, []), others, 0))
        ) AS other_calls
    FROM compared
    WHERE own_ns IS NOT NULL
)

SELECT
    run_id,
    medians.rank,
    medians.level,
    name,
    round(medians.own_ns)::BIGINT AS own_ns,
    round(medians.other_ns)::BIGINT AS other_ns,
    round(medians.own_ns - medians.other_ns)::BIGINT AS excess_ns,
    100 * (medians.own_ns - medians.other_ns) / nullif(medians.cost_ns, 0) AS cost_percent,
    own_calls AS step_calls,
    other_calls AS other_step_calls,
    abs(own_calls - other_calls) < 0.001 AS is_slower
FROM medians
WHERE medians.own_ns > medians.other_ns;
