-- The median steps of two groups of runs side by side: `group_diff(bases, others, rank := NULL)`,
-- of two lists of run ids. Of each run the device with the longest wall time counts; with a rank,
-- that of the rank.
-- One row: a metric of `run_metrics`; of one run a side, those with `is_part` add up to metric
-- `wall`. No rows where all runs of a side are unknown.
--
-- metric        name of the metric, without its unit
-- unit          ns, bytes or count
-- base          median of the first group; null where no run knows it. An overlap is negative,
--               which makes it a part
-- other         median of the second
-- change        second less first; a part that only one of them has is 0 in the other
-- percent       change, of the size of the first; null where that is 0
-- is_part       whether it is one of those that add up to the wall time
-- ordinal       order in which to show them: first the wall time, then its parts
-- base_values   of each run of the first group, in the order of their ids
-- other_values  of the second
-- base_spread   median distance of these from their median; null where both groups are one run
-- other_spread  of the second
CREATE MACRO group_diff(bases, others, rank := NULL) AS TABLE
    WITH
    sides AS (
        SELECT
            metric,
            unit,
            is_part,
            min(ordinal) AS ordinal,
            median(value) FILTER (WHERE run_id IN bases) AS base,
            median(value) FILTER (WHERE run_id IN others) AS other,
            list(value ORDER BY run_id) FILTER (WHERE run_id IN bases) AS base_values,
            list(value ORDER BY run_id) FILTER (WHERE run_id IN others) AS other_values,
            mad(value) FILTER (WHERE run_id IN bases) AS base_spread,
            mad(value) FILTER (WHERE run_id IN others) AS other_spread
        FROM run_metrics_long AS metrics
        WHERE
            run_id IN list_concat(bases, others)
            AND is_compared(rank, metrics.rank, is_slowest, is_slowest_of_rank)
        GROUP BY metric, unit, is_part
    ),

    changes AS (
        SELECT
            *,
            CASE
                WHEN is_part AND (base IS NOT NULL OR other IS NOT NULL)
                    THEN coalesce(other, 0) - coalesce(base, 0)
                ELSE other - base
            END AS change,
            len(bases) + len(others) > 2 AS has_groups
        FROM sides
        QUALIFY bool_or(base IS NOT NULL) OVER () AND bool_or(other IS NOT NULL) OVER ()
    )

    SELECT
        metric,
        unit,
        base,
        other,
        change,
        percent_change(change, base) AS percent,
        is_part,
        ordinal,
        base_values,
        other_values,
        if(has_groups, base_spread, NULL) AS base_spread,
        if(has_groups, other_spread, NULL) AS other_spread
    FROM changes
    ORDER BY ordinal;
