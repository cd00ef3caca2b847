-- The figures of all runs over time, per step and of each run's slowest device, with the runs from
-- which on a figure changed. It compares runs of one model, mode and device; a run that
-- names no model stands with those of its own name.
-- One row: a figure of a run; none where it is not known.
--
-- A change point is a run from which on a figure is different: the median of it and of up to four
-- runs after it differs from the median of up to five runs before it by at least 5 %, and by more
-- than four times the spread of those before, which is their median distance from their median. It
-- takes three runs before and two from it on, so that no run changes anything alone. Of runs close
-- by that qualify, it is the one at which both sides are the most uniform: at which the distances
-- of all these runs from the median of their side add up to the least.
--
-- run_id            the run
-- name              its name
-- model             model that was profiled
-- mode              eager or compiled
-- device_name       device; null when the run had none
-- tags              the user's own keys and values
-- started_at        when the profile began, else when it was added, UTC
-- figure            name of the figure, as in `run_metrics_long`
-- unit              ns, bytes or count
-- value             the figure
-- before_median     median of the up to five runs before; null for the first
-- before_spread     median distance of these from it
-- from_median       median of the run and the up to four after it
-- change_percent    from_median against before_median; null where that is 0 or null
-- change_point      whether the figure changed for good with this run
WITH
figures AS (
    SELECT
        overview.run_id,
        overview.name,
        overview.model,
        overview.mode,
        overview.device_name,
        overview.tags,
        coalesce(overview.started_at, overview.ingested_at) AS started_at,
        coalesce(overview.model, overview.name) AS series,
        figure.figure,
        figure.unit,
        figure.value
    FROM run_overview AS overview
    INNER JOIN run_metrics_long AS figure ON overview.run_id = figure.run_id
    WHERE figure.slowest AND figure.value IS NOT NULL
),

sides AS (
    SELECT
        *,
        row_number() OVER in_order AS place,
        list(value) OVER (in_order ROWS BETWEEN 5 PRECEDING AND 1 PRECEDING) AS before,
        list(value) OVER (in_order ROWS BETWEEN CURRENT ROW AND 4 FOLLOWING) AS onwards
    FROM figures
    WINDOW in_order AS (
        PARTITION BY series, mode, device_name, figure ORDER BY started_at, run_id
    )
),

medians AS (
    SELECT
        *,
        list_aggregate(before, 'median') AS before_median,
        list_aggregate(before, 'mad') AS before_spread,
        list_aggregate(onwards, 'median') AS from_median
    FROM sides
),

shifts AS (
    SELECT
        *,
        len(before) >= 3
        AND len(onwards) >= 2
        AND from_median <> before_median
        AND abs(from_median - before_median) >= 0.05 * abs(before_median)
        AND abs(from_median - before_median) > 4 * before_spread AS shifted,
        coalesce(list_sum(list_transform(before, LAMBDA v: abs(v - before_median))), 0)
        + list_sum(list_transform(onwards, LAMBDA v: abs(v - from_median))) AS distance
    FROM medians
),

nearby AS (
    SELECT
        *,
        min(if(shifted, { 'distance': distance, 'place': place }, NULL)) OVER (
            PARTITION BY series, mode, device_name, figure
            ORDER BY place
            ROWS BETWEEN 4 PRECEDING AND 4 FOLLOWING
        ) AS best
    FROM shifts
)

SELECT
    run_id,
    name,
    model,
    mode,
    device_name,
    tags,
    started_at,
    figure,
    unit,
    value,
    before_median,
    before_spread,
    from_median,
    percent_change(from_median - before_median, before_median) AS change_percent,
    coalesce(shifted AND best.place = place, FALSE) AS change_point
FROM nearby;
