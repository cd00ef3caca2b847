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
-- ignored_tags        tags of the run that begin with `peak_`, but name no peak, or whose value is
--                     not a number between 10⁻⁶ and 10⁶
-- measured_launch_ns  time of the host for a launch of a small operator, by `capture calibrate`,
--                     ns; null if not measured
SELECT
    run_id,
    device_id,
    rates.rank,
    device_name,
    model,
    CASE
        WHEN model IS NOT NULL THEN NULL
        WHEN device_type = 'cpu' THEN 'host'
        WHEN len(models) > 1 THEN 'several_models'
        WHEN NOT is_described THEN 'no_properties'
        ELSE 'no_model'
    END AS model_reason,
    models,
    datasheet_tb_per_s,
    measured_tb_per_s,
    tb_per_s,
    CASE
        WHEN given_tb_per_s IS NOT NULL THEN 'tag'
        WHEN datasheet_tb_per_s IS NOT NULL THEN 'datasheet'
        WHEN measured_tb_per_s IS NOT NULL THEN 'calibration'
    END AS tb_per_s_from,
    ignored_tags,
    measured_launch_ns
FROM device_rates AS rates;
