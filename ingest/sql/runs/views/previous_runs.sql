-- The run before each run: the latest earlier one of the same model, of those on the same device
-- where there are any. A run that names no model stands with those of its own name.
-- One row: a run that has metrics.
--
-- run_id           the run
-- model            its model, else its name
-- started_at       when the profile began, else when it was added, UTC
-- ingested_at      when it was added, UTC
-- previous_run_id  the run before it (`runs.run_id`); null for the first
-- is_same_device   whether that ran on a device of the same name, or on a host likewise; null where
--                  there is none
WITH runs_with_metrics AS (
    SELECT
        overview.run_id,
        coalesce(overview.model, overview.name) AS model,
        coalesce(overview.started_at, overview.ingested_at) AS started_at,
        overview.ingested_at,
        overview.device_name,
        metrics.measure
    FROM run_overview AS overview
    INNER JOIN run_metrics AS metrics ON overview.run_id = metrics.run_id
    WHERE metrics.is_slowest
),

before AS (
    SELECT
        *,
        lag(run_id) OVER of_model AS of_same_model,
        lag(run_id) OVER on_device AS on_same_device
    FROM runs_with_metrics
    WINDOW
        of_model AS (PARTITION BY model ORDER BY started_at, ingested_at, run_id DESC),
        on_device AS (
            PARTITION BY model, measure, device_name ORDER BY started_at, ingested_at, run_id DESC
        )
)

SELECT
    run_id,
    model,
    started_at,
    ingested_at,
    coalesce(on_same_device, of_same_model) AS previous_run_id,
    CASE WHEN of_same_model IS NOT NULL THEN on_same_device IS NOT NULL END AS is_same_device
FROM before;
