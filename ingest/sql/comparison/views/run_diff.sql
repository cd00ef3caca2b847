-- The median steps of two runs side by side: `run_diff(base, other, rank := NULL)`. It uses the
-- device with the longest wall time of each run, or of `rank` if that is given.
-- One row: a metric of `run_metrics`. Those with `is_part` add up to metric `wall`. There are no
-- rows if a run is unknown.
-- Start here: What changed from one run to another?
--
-- metric        name of the metric, as in `run_metrics_long`
-- unit
-- base          value in the first run; null if unknown; an overlap is negative, so that the parts
--               add up
-- other         value in the second run; null if unknown
-- change        second minus first; a part that only one run has counts as 0 in the other
-- percent       change in percent of the absolute value of the first; null if that is 0
-- is_part
-- ordinal       display order of the metrics: the wall time, then its parts, then the others
-- base_rank     rank that was compared in the first run
-- other_rank    rank that was compared in the second run
-- base_device   device that was compared in the first run; null if the host is measured
-- other_device  device that was compared in the second run; null if the host is measured
CREATE MACRO run_diff(base, other, rank := NULL) AS TABLE
    WITH
    sides AS (
        SELECT
            max(compared.rank) FILTER (WHERE side = 'base') AS base_rank,
            max(compared.rank) FILTER (WHERE side = 'other') AS other_rank,
            max(device) FILTER (WHERE side = 'base') AS base_device,
            max(device) FILTER (WHERE side = 'other') AS other_device
        FROM compared_runs(base, other, rank := rank) AS compared
    )

    -- Columns are qualified, because an unqualified `base` is the parameter.
    SELECT
        diff.metric,
        diff.unit,
        diff.base,
        diff.other,
        diff.change,
        diff.percent,
        diff.is_part,
        diff.ordinal,
        sides.base_rank,
        sides.other_rank,
        sides.base_device,
        sides.other_device
    FROM group_diff([base], [other], rank := rank) AS diff
    CROSS JOIN sides
    ORDER BY diff.ordinal;
