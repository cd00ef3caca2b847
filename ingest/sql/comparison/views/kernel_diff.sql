-- Two runs side by side, kernel by kernel: `kernel_diff(base, other, rank := NULL, nth_step :=
-- NULL)`. It uses the median step of each run, or step number `nth_step`; for a run without steps,
-- the whole recording. The rows add up to the work of each run. If the host is compared, its
-- outermost operators replace the kernels.
-- One row: a name of a kernel, copy or memset.
--
-- name         name of the kernel, copy or memset, or of the operator on the host
-- class        compute, communication or copy; null on the host
-- base_calls   number of activities of the name in the first run
-- other_calls  number of activities of the name in the second run
-- base_ns      sum of the durations of these activities in the first run, ns
-- other_ns     sum of the durations of these activities in the second run, ns
-- change_ns
-- percent      change in percent of the first; null if that is 0
CREATE MACRO kernel_diff(base, other, rank := NULL, nth_step := NULL) AS TABLE
    WITH
    work AS (
        SELECT side, name, class, ns
        FROM compared_activities(base, other, rank := rank, nth_step := nth_step)
        UNION ALL
        SELECT side, name, NULL AS class, ns
        FROM compared_host_work(base, other, rank := rank, nth_step := nth_step)
    ),

    sums AS (
        SELECT
            work.name,
            min(work.class) AS class,
            count(*) FILTER (WHERE work.side = 'base') AS base_calls,
            count(*) FILTER (WHERE work.side = 'other') AS other_calls,
            coalesce(sum(work.ns) FILTER (WHERE work.side = 'base'), 0)::BIGINT AS base_ns,
            coalesce(sum(work.ns) FILTER (WHERE work.side = 'other'), 0)::BIGINT AS other_ns
        FROM work
        GROUP BY work.name
    )

    SELECT
        *,
        other_ns - base_ns AS change_ns,
        percent_change(other_ns - base_ns, base_ns) AS percent
    FROM sums;
