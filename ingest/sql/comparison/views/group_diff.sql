-- The median steps of two groups of runs side by side: `group_diff(bases, others, rank := NULL)`,
-- where `bases` and `others` are lists of run ids. It uses the device with the longest wall time of
-- each run, or of `rank` if that is given.
-- One row: a metric of `run_metrics`. If each group is one run, the rows with `is_part` add up to
-- metric `wall`. There are no rows if all runs of a side are unknown.
--
-- metric        name of the metric, as in `run_metrics_long`
-- unit
-- base          median of the first group; null if no run of it has the metric; an overlap is
--               negative, so that the parts add up
-- other         median of the second group; null if no run of it has the metric
-- change        second minus first; a part that only one group has counts as 0 in the other
-- percent       change in percent of the absolute value of the first; null if that is 0
-- is_part       whether the metric is one of the parts that add up to the wall time
-- ordinal       display order of the metrics: the wall time, then its parts, then the others
-- base_values   values of the runs of the first group, in the order of their ids
-- other_values  values of the runs of the second group, in the order of their ids
-- base_spread   median distance of the first group's values from their median; null if each group
--               is one run
-- other_spread  median distance of the second group's values from their median; null if each group
--               is one run
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
            AND is_compared(rank, metrics.rank, is_default, is_slowest_of_rank)
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
