-- The metrics of all runs over time, for each run's median step on its default device, with the
-- runs at which a metric changed. Runs of one series are compared, as in `run_series`.
-- One row: a metric of a run; metrics that are not known have no row.
-- Start here: Which runs became slower, and since when?
--
-- A change point is a run at which a metric changes lastingly. The median of this run and up to
-- four runs after it must differ from the median of up to five runs before it. The difference must
-- be at least 5 %, and more than four times the spread of the runs before, which is their median
-- distance from their median. The value of the run itself must be nearer to the later median, and
-- the value of the run before it nearer to the earlier one. There must be at least three runs
-- before the change point and at least one run after it, so a single run never causes one. If
-- several runs within four qualify for the same change, the change point is the run for which both
-- sides are the most uniform: the distances of all these runs from the median of their side have
-- the smallest sum.
--
-- run_id
-- series           series of the run, as in `run_series`
-- run_number
-- name             name of the run
-- model, mode, device_name, tags, started_at, ingested_at
-- metric           name of the metric, as in `run_metrics_long`
-- unit
-- value            value of the metric
-- before_median    median of up to five runs before this run; null for the first run
-- before_spread    median distance of the runs before this run from `before_median`
-- from_median      median of this run and up to four runs after it
-- change_percent   change from `before_median` to `from_median`, percent; null if `before_median`
--                  is 0 or null
-- is_change_point  whether the metric changes lastingly at this run
WITH
metrics AS (
    SELECT
        run.run_id,
        run.series,
        run.run_number,
        metric.metric,
        metric.unit,
        metric.value
    FROM run_series AS run
    INNER JOIN run_metrics_long AS metric ON run.run_id = metric.run_id
    WHERE metric.is_default AND metric.value IS NOT NULL
),

windows AS (
    SELECT
        *,
        row_number() OVER in_order AS ordinal,
        lag(value) OVER in_order AS previous,
        list(value) OVER (in_order ROWS BETWEEN 5 PRECEDING AND 4 FOLLOWING) AS around
    FROM metrics
    WINDOW in_order AS (PARTITION BY series, metric ORDER BY run_number)
),

sides AS (
    SELECT
        * EXCLUDE (around),
        list_slice(around, 1, least(ordinal - 1, 5)) AS before,
        list_slice(around, least(ordinal, 6), 10) AS onwards
    FROM windows
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
        coalesce(
            len(before) >= 3
            AND len(onwards) >= 2
            AND from_median <> before_median
            AND abs(from_median - before_median) >= 0.05 * abs(before_median)
            AND abs(from_median - before_median) > 4 * before_spread
            AND abs(value - from_median) <= abs(value - before_median)
            AND abs(previous - before_median) <= abs(previous - from_median),
            FALSE
        ) AS shifted,
        coalesce(list_sum(list_transform(before, LAMBDA v: abs(v - before_median))), 0)
        + list_sum(list_transform(onwards, LAMBDA v: abs(v - from_median))) AS distance
    FROM medians
),

-- A join of the shifts with themselves would compute all series, even if a query asks for one.
nearby AS (
    SELECT
        *,
        list({
            'ordinal': ordinal,
            'distance': distance,
            'before_median': before_median,
            'from_median': from_median
        }) FILTER (WHERE shifted) OVER (
            PARTITION BY series, metric
            ORDER BY ordinal
            ROWS BETWEEN 4 PRECEDING AND 4 FOLLOWING
        ) AS shifts_nearby
    FROM shifts
)

SELECT
    nearby.run_id,
    series,
    run_number,
    run.name,
    run.model,
    run.mode,
    run.device_name,
    run.tags,
    run.started_at,
    run.ingested_at,
    metric,
    unit,
    value,
    before_median,
    before_spread,
    from_median,
    percent_change(from_median - before_median, before_median) AS change_percent,
    -- Two nearby shifts are one change if they lead to the same value. They are two changes if the
    -- second begins where the first leads to.
    shifted AND len(list_filter(
        shifts_nearby,
        LAMBDA other: (other['distance'], other['ordinal']) < (distance, ordinal)
        AND abs(other['from_median'] - from_median) < if(
            other['ordinal'] < ordinal,
            abs(other['from_median'] - before_median),
            abs(from_median - other['before_median'])
        )
    )) = 0 AS is_change_point
FROM nearby
-- The labels come last, so that the windows do not carry them.
INNER JOIN run_overview AS run ON nearby.run_id = run.run_id;
