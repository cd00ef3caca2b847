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
datasheets AS (
    UNPIVOT (FROM device_models)
    ON float64_matrix, float64, float32, tf32, float16, bfloat16, float8, int8, float4
    INTO NAME precision VALUE tflop_per_s
),

given AS (
    SELECT run_id, key[6:] AS precision, try_cast(tags[key] AS DOUBLE) AS tflop_per_s
    FROM (SELECT run_id, tags, unnest(map_keys(tags)) AS key FROM runs)
    WHERE starts_with(key, 'peak_')
),

measured AS (
    SELECT
        run_id,
        device_id,
        unnest(
            CASE key
                WHEN 'float8_e4m3fn' THEN ['float8']
                WHEN 'float64' THEN ['float64', 'float64_matrix']
                ELSE [key]
            END
        ) AS precision,
        flops_per_s[key] / 1e12 AS tflop_per_s
    FROM (
        SELECT run_id, device_id, flops_per_s, unnest(map_keys(flops_per_s)) AS key
        FROM calibrations
    )
),

found AS (
    SELECT limits.run_id, limits.device_id, precision, 'datasheet' AS origin, tflop_per_s
    FROM datasheets
    INNER JOIN device_limits AS limits USING (model)
    UNION ALL BY NAME
    SELECT given.run_id, metrics.device_id, given.precision, 'tag' AS origin, given.tflop_per_s
    FROM given
    INNER JOIN run_metrics AS metrics ON given.run_id = metrics.run_id
    UNION ALL BY NAME
    SELECT run_id, device_id, precision, 'calibration' AS origin, tflop_per_s FROM measured
)

SELECT
    run_id,
    device_id,
    precision,
    arg_min(tflop_per_s, list_position(['tag', 'datasheet', 'calibration'], origin)) AS tflop_per_s,
    arg_min(origin, list_position(['tag', 'datasheet', 'calibration'], origin)) AS tflop_per_s_from,
    any_value(tflop_per_s) FILTER (WHERE origin = 'datasheet') AS datasheet_tflop_per_s,
    any_value(tflop_per_s) FILTER (WHERE origin = 'calibration') AS measured_tflop_per_s
FROM found
WHERE
    positive(tflop_per_s) IS NOT NULL
    AND precision IN (
        'float64_matrix', 'float64', 'float32', 'tf32', 'float16', 'bfloat16', 'float8', 'int8',
        'float4'
    )
GROUP BY run_id, device_id, precision;
