-- Peak rates of the devices of runs, by precision.
-- One row: a precision in which the peak of a device or host is known.
--
-- run_id, device_id
-- precision              float64_matrix, float64, float32, tf32, float16, bfloat16, float8, int8 or
--                        float4, as in `device_models`
-- tflop_per_s            peak that shares are computed from, 10¹² operations per second: given, or
--                        else of the datasheet, or else measured
-- tflop_per_s_from       where it comes from: tag (`peak_bfloat16=989` for example), datasheet or
--                        calibration
-- datasheet_tflop_per_s  of the model; null if unknown
-- measured_tflop_per_s   of a matrix product, by `capture calibrate`; null if not measured
WITH
listed AS (
    SELECT *, unnest(map_keys(peaks)) AS precision FROM device_rates
)

SELECT
    run_id,
    device_id,
    precision,
    peaks[precision] AS tflop_per_s,
    CASE
        WHEN given_peaks[precision] IS NOT NULL THEN 'tag'
        WHEN datasheet_peaks[precision] IS NOT NULL THEN 'datasheet'
        ELSE 'calibration'
    END AS tflop_per_s_from,
    datasheet_peaks[precision] AS datasheet_tflop_per_s,
    measured_peaks[precision] AS measured_tflop_per_s
FROM listed;
