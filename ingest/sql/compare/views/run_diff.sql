-- The median steps of two runs side by side: `run_diff(base, other, rank := NULL)`. Of each run the
-- device with the longest wall time counts; with a rank, that of the rank.
-- One row: a metric of `run_metrics`; those with `is_part` add up to metric `wall`. No rows where a
-- run is unknown.
-- Start here: What changed from one run to another?
--
-- metric        name of the metric, without its unit
-- unit          ns, bytes or count
-- base          in the first run; an overlap is negative, which makes it a part; null where not
--               known
-- other         in the second
-- change        second less first; what only one of them has is 0 in the other, if it is a part
-- percent       change, of the size of the first; null where that is 0
-- is_part       whether it is one of those that add up to the wall time, in both and in the change
-- ordinal       order in which to show them: first the wall time, then its parts
-- base_rank     rank that was taken of the first run
-- other_rank    rank that was taken of the second
-- base_device   its device in the first; null where the host is measured
-- other_device  its device in the second
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

    -- Qualified: a bare `base` is the parameter.
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
