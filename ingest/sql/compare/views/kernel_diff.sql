-- Two runs kernel by kernel: `kernel_diff(base, other, rank := NULL)`. Figures are per step; the
-- rows add up to the totals of both runs. Where the host is compared, its outermost operators take
-- the place of kernels.
-- One row: a name of a kernel, copy or set.
--
-- name         the name
-- class        compute, communication or copy; null on the host
-- base_calls   activities of the name in the first run
-- other_calls  in the second
-- base_ns      sum of their durations in the first run, ns
-- other_ns     in the second
-- change_ns    second less first
-- percent      change, of the first; null where that is 0
CREATE MACRO kernel_diff(base, other, rank := NULL) AS TABLE
    WITH
    work AS (
        SELECT side, name, class, ns
        FROM compared_activities(base, other, rank := rank)
        UNION ALL
        SELECT side, name, NULL AS class, ns
        FROM compared_units(base, other, rank := rank)
        WHERE kernels IS NULL
    ),

    sums AS (
        SELECT
            work.name,
            any_value(work.class) AS class,
            count(*) FILTER (WHERE work.side = 'base') AS base_calls,
            count(*) FILTER (WHERE work.side = 'other') AS other_calls,
            coalesce(sum(work.ns) FILTER (WHERE work.side = 'base'), 0) AS base_ns,
            coalesce(sum(work.ns) FILTER (WHERE work.side = 'other'), 0) AS other_ns
        FROM work
        GROUP BY work.name
    ),

    steps AS (
        SELECT
            max(steps) FILTER (WHERE side = 'base') AS base,
            max(steps) FILTER (WHERE side = 'other') AS other
        FROM compared_runs(base, other, rank := rank)
    ),

    per_step AS (
        SELECT
            sums.name,
            sums.class,
            sums.base_calls / steps.base AS base_calls,
            sums.other_calls / steps.other AS other_calls,
            sums.base_ns / steps.base AS base_ns,
            sums.other_ns / steps.other AS other_ns
        FROM sums
        CROSS JOIN steps
    )

    SELECT
        *,
        other_ns - base_ns AS change_ns,
        percent_change(other_ns - base_ns, base_ns) AS percent
    FROM per_step;
