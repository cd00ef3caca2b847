-- The previous run of each run: the latest earlier run of the same model on the same device, or
-- else the latest earlier run of the same model on any device. A run without a model is compared by
-- its name.
-- One row: a run that has metrics.
--
-- run_id
-- model            model of the run, or else its name
-- started_at
-- ingested_at      when it was added, UTC
-- device_name      name of its default device; null if it has none, or no name was recorded
-- measure
-- previous_run_id  the previous run (`runs.run_id`); null for the first run
-- is_same_device   whether both runs used a device of the same name, or both a host; null if there
--                  is no previous run
WITH runs_with_metrics AS (
    SELECT
        overview.run_id,
        coalesce(overview.model, overview.name) AS model,
        overview.started_at,
        overview.ingested_at,
        overview.device_name,
        metrics.measure
    FROM run_overview AS overview
    INNER JOIN run_metrics AS metrics ON overview.run_id = metrics.run_id
    WHERE metrics.is_default
),

before AS (
    SELECT
        *,
        lag(run_id) OVER of_model AS of_same_model,
        lag(run_id) OVER on_device AS on_same_device
    FROM runs_with_metrics
    WINDOW
        of_model AS (
            PARTITION BY model
            ORDER BY coalesce(started_at, ingested_at), ingested_at, run_id DESC
        ),
        on_device AS (
            PARTITION BY model, measure, device_name
            ORDER BY coalesce(started_at, ingested_at), ingested_at, run_id DESC
        )
)

SELECT
    run_id,
    model,
    started_at,
    ingested_at,
    device_name,
    measure,
    coalesce(on_same_device, of_same_model) AS previous_run_id,
    CASE WHEN of_same_model IS NOT NULL THEN on_same_device IS NOT NULL END AS is_same_device
FROM before;
