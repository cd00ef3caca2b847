-- Part of `device_limits`, `device_peaks` and `limited_work_of`: the model of each device, and its
-- rates from all sources.
-- One row: a device or host of a run, as in `devices`.
--
-- run_id, device_id, rank
-- device_type
-- device_name         recorded name
-- is_described        whether the trace describes the device
-- models              all models that fit
-- model               the model, as in `device_models`; null if none or several fit
-- given_tb_per_s      memory bandwidth by the run's tags, 10¹² bytes per second; null if unknown
-- datasheet_tb_per_s  memory bandwidth of the model, 10¹² bytes per second; null if unknown
-- measured_tb_per_s   bandwidth of a copy, by `capture calibrate`; null if not measured
-- tb_per_s            the first of these that is known, 10¹² bytes per second; null if none is
-- given_peaks         peaks by the run's tags, by precision as in `device_models`, 10¹² operations
--                     per second
-- datasheet_peaks     peaks of the model
-- measured_peaks      rates of a matrix product, by `capture calibrate`
-- peaks               of each precision, the first of these that is known
-- ignored_tags        tags of the run that begin with `peak_`, but name no peak, or whose value is
--                     not a number in range
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
        any_value(models.tb_per_s) AS tb_per_s,
        any_value(map(
            precisions(),
            [
                models.float64_matrix,
                models.float64,
                models.float32,
                models.tf32,
                models.float16,
                models.bfloat16,
                models.float8,
                models.int8,
                models.float4
            ]
        )) AS peaks
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

given AS (
    SELECT
        runs.run_id,
        metrics.device_id,
        given_rate(runs.tags['peak_bandwidth']) AS tb_per_s,
        map(
            precisions(),
            list_transform(
                precisions(), LAMBDA precision: given_rate(runs.tags['peak_' || precision])
            )
        ) AS peaks,
        list_sort(list_filter(
            map_keys(runs.tags),
            LAMBDA tag: starts_with(tag, 'peak_')
            AND (
                NOT list_contains(list_append(precisions(), 'bandwidth'), tag[6:])
                OR given_rate(runs.tags[tag]) IS NULL
            )
        )) AS ignored_tags
    FROM runs
    INNER JOIN run_metrics AS metrics ON runs.run_id = metrics.run_id
)

SELECT
    devices.run_id,
    devices.device_id,
    devices.rank,
    devices.device_type,
    devices.name AS device_name,
    devices.multiprocessors IS NOT NULL OR devices.memory_bytes IS NOT NULL AS is_described,
    coalesce(fitting.models, []) AS models,
    if(len(fitting.models) = 1, fitting.models[1], NULL) AS model,
    given.tb_per_s AS given_tb_per_s,
    if(model IS NULL, NULL, fitting.tb_per_s) AS datasheet_tb_per_s,
    measured.tb_per_s AS measured_tb_per_s,
    coalesce(given_tb_per_s, datasheet_tb_per_s, measured_tb_per_s) AS tb_per_s,
    known_rates(given.peaks) AS given_peaks,
    known_rates(if(model IS NULL, NULL, fitting.peaks)) AS datasheet_peaks,
    known_rates(map(
        [
            'float64_matrix', 'float64', 'float32', 'tf32', 'float16', 'bfloat16', 'float8', 'int8'
        ],
        list_transform(
            [
                'float64', 'float64', 'float32', 'tf32', 'float16', 'bfloat16', 'float8_e4m3fn',
                'int8'
            ],
            LAMBDA dtype: measured.flops_per_s[dtype] / 1e12
        )
    )) AS measured_peaks,
    -- The last map that has a key wins.
    map_concat(measured_peaks, datasheet_peaks, given_peaks) AS peaks,
    coalesce(given.ignored_tags, []) AS ignored_tags,
    measured.measured_launch_ns
FROM devices
LEFT JOIN fitting
    ON
        devices.name IS NOT DISTINCT FROM fitting.name
        AND devices.multiprocessors IS NOT DISTINCT FROM fitting.multiprocessors
        AND devices.memory_bytes IS NOT DISTINCT FROM fitting.memory_bytes
LEFT JOIN calibrations AS measured
    ON devices.run_id = measured.run_id AND devices.device_id = measured.device_id
LEFT JOIN given ON devices.run_id = given.run_id AND devices.device_id = given.device_id;
