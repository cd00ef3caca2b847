-- Part of `setting_diff`: the known settings of a run: its conditions (`run_conditions`), the rest
-- of `run.json`, and its tags. Measured values are not settings.
-- One row: a setting of a run from one source of evidence.
--
-- run_id, topic
-- setting   name of the setting: a subject of `run_conditions`, a key of `run.json` (`compile.mode`
--           for a key in an object), or the key of a tag
-- evidence  where the setting is recorded: run (`run.json` and table `runs`) or trace
-- value     the setting as text
WITH
run_json_values AS (
    SELECT
        runs.run_id,
        replace(replace(ltrim(leaf.fullkey, '$.'), '"', ''), 'profiler.', 'profiler: ') AS setting,
        split_part(ltrim(leaf.fullkey, '$.'), '.', 1) AS top_key,
        json_extract_string(leaf.value, '$') AS value
    FROM runs
    CROSS JOIN json_tree(runs.run_json) AS leaf
    -- A list counts as one value, so omit its elements.
    WHERE
        leaf.type NOT IN ('OBJECT', 'NULL')
        AND NOT ends_with(leaf.fullkey, ']')
        AND NOT contains(leaf.path, '[')
),

-- Omit columns of `runs`, conditions with another name, and measured values.
other_keys AS (
    SELECT
        run_id,
        setting,
        value
    FROM run_json_values
    WHERE
        top_key NOT IN (
            'name', 'model', 'mode', 'framework', 'framework_version', 'device', 'device_name',
            'world_size', 'started_at', 'tags', 'width', 'height', 'max_sequence_length',
            'rank', 'process', 'missing', 'error', 'memory', 'device_time', 'compilation',
            'warmup_steps', 'sweep', 'calibration'
        )
        AND NOT ends_with(setting, '_ns')
),

tagged AS (
    SELECT run_id, unnest(map_entries(tags)) AS tag FROM runs
),

settings AS (
    SELECT
        run_id,
        if(subject = 'steps', 'measured steps', subject) AS setting,
        evidence,
        value
    FROM run_conditions
    WHERE NOT is_fault
    UNION
    SELECT run_id, 'mode' AS setting, 'run' AS evidence, mode AS value FROM runs
    UNION
    SELECT run_id, setting, 'run' AS evidence, value FROM other_keys
)

SELECT
    run_id,
    CASE
        WHEN setting IN ('measure', 'measured steps') OR starts_with(setting, 'profiler')
            THEN 'recording'
        WHEN
            ends_with(setting, '_version')
            OR setting IN ('framework', 'driver', 'CUDA', 'HIP', 'NCCL')
            THEN 'version'
        WHEN setting IN ('device', 'world_size', 'ranks') OR starts_with(setting, 'arguments')
            THEN 'environment'
        ELSE 'configuration'
    END AS topic,
    setting,
    evidence,
    value
FROM settings
WHERE value IS NOT NULL
UNION ALL
SELECT
    run_id,
    'tag' AS topic,
    tag.key AS setting,
    'run' AS evidence,
    tag.value
FROM tagged;
