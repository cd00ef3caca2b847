-- The series that runs belong to. A series is the runs of one model, mode and device, oldest first.
-- If the start of a run is unknown, the time at which it was added counts.
-- A run without a model belongs to a series by its name.
-- One row: a run with metrics.
--
-- run_id
-- series  the known ones of model, mode and device, separated by commas; the name replaces an
--         unknown model
-- run_number
-- name    name of the run
-- model, mode, device_name, tags, started_at, ingested_at
WITH
named AS (
    SELECT
        run_id,
        concat_ws(', ', coalesce(model, name), mode, device_name) AS series,
        name,
        model,
        mode,
        device_name,
        tags,
        started_at,
        ingested_at
    FROM run_overview
    WHERE run_id IN (SELECT run_id FROM run_metrics WHERE is_default)
)

SELECT
    run_id,
    series,
    row_number() OVER (
        PARTITION BY series ORDER BY coalesce(started_at, ingested_at), run_id
    ) AS run_number,
    * EXCLUDE (run_id, series)
FROM named;
