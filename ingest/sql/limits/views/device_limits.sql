-- The model of each device, and what it reaches at most besides the peaks of `device_peaks`.
-- One row: a device or host of a run, as in `devices`.
--
-- A device is of a model if its recorded name fits, it has as many multiprocessors, and its memory
-- is within 3 %. A MIG slice keeps the name of its GPU, but has fewer multiprocessors and less
-- memory: it is of no model.
--
-- run_id, device_id, rank
-- device_name         recorded name
-- model               the model, as in `device_models`; null if it is not known
-- model_reason        why `model` is null: host, no_properties (the trace does not describe the
--                     device), no_model (no model fits) or several_models
-- models              all models that fit
-- datasheet_tb_per_s  memory bandwidth of the model, 10¹² bytes per second; null if unknown
-- measured_tb_per_s   bandwidth of a copy, by `capture calibrate`; null if not measured
-- tb_per_s            memory bandwidth that shares are computed from, 10¹² bytes per second: given,
--                     or else of the datasheet, or else measured; null if unknown
-- tb_per_s_from       where it comes from: tag, datasheet or calibration
-- measured_launch_ns  time of the host for a launch of a small operator, by `capture calibrate`,
--                     ns; null if not measured
WITH
-- Few distinct devices: regular expressions take long.
known AS (
    SELECT DISTINCT name, multiprocessors, memory_bytes
    FROM devices
    WHERE multiprocessors IS NOT NULL OR memory_bytes IS NOT NULL
),

fitting AS (
    SELECT
        known.*,
        list(models.model ORDER BY models.model) AS models,
        any_value(models.tb_per_s) AS tb_per_s
    FROM known
    INNER JOIN device_models AS models
        ON
            known.multiprocessors IS NOT DISTINCT FROM
            coalesce(models.multiprocessors, known.multiprocessors)
            AND abs(known.memory_bytes / 1e9 - models.memory_gb) <= 0.03 * models.memory_gb
            AND (
                regexp_matches(known.name, models.name_pattern)
                OR (
                    models.is_also_unnamed
                    AND coalesce(known.name, '') IN ('', 'AMD Radeon Graphics')
                )
            )
    GROUP BY ALL
),

measured AS (
    SELECT run_id, device_id, tb_per_s, measured_launch_ns FROM calibrations
),

given AS (
    SELECT
        runs.run_id,
        metrics.device_id,
        positive(try_cast(runs.tags['peak_bandwidth'] AS DOUBLE)) AS tb_per_s
    FROM runs
    INNER JOIN run_metrics AS metrics ON runs.run_id = metrics.run_id
)

SELECT
    devices.run_id,
    devices.device_id,
    devices.rank,
    devices.name AS device_name,
    if(len(fitting.models) = 1, fitting.models[1], NULL) AS model,
    CASE
        WHEN len(fitting.models) = 1 THEN NULL
        WHEN devices.device_type = 'cpu' THEN 'host'
        WHEN len(fitting.models) > 1 THEN 'several_models'
        WHEN devices.multiprocessors IS NULL AND devices.memory_bytes IS NULL THEN 'no_properties'
        ELSE 'no_model'
    END AS model_reason,
    coalesce(fitting.models, []) AS models,
    if(model IS NULL, NULL, fitting.tb_per_s) AS datasheet_tb_per_s,
    measured.tb_per_s AS measured_tb_per_s,
    coalesce(given.tb_per_s, datasheet_tb_per_s, measured_tb_per_s) AS tb_per_s,
    CASE
        WHEN given.tb_per_s IS NOT NULL THEN 'tag'
        WHEN datasheet_tb_per_s IS NOT NULL THEN 'datasheet'
        WHEN measured_tb_per_s IS NOT NULL THEN 'calibration'
    END AS tb_per_s_from,
    measured.measured_launch_ns
FROM devices
LEFT JOIN fitting
    ON
        devices.name IS NOT DISTINCT FROM fitting.name
        AND devices.multiprocessors IS NOT DISTINCT FROM fitting.multiprocessors
        AND devices.memory_bytes IS NOT DISTINCT FROM fitting.memory_bytes
LEFT JOIN measured
    ON devices.run_id = measured.run_id AND devices.device_id = measured.device_id
LEFT JOIN given ON devices.run_id = given.run_id AND devices.device_id = given.device_id;
