-- The settings of two runs side by side: configuration, versions, environment, recording and tags:
-- `setting_diff(base, other)`.
-- One row: a setting that is known for at least one of the runs.
--
-- topic
-- setting  name of the setting: a subject of `run_conditions`, a key of `run.json`, or the key of a
--          tag
-- status   same, different or unknown. It is unknown if only one run records the setting and the
--          other has no file that could record it, such as a `run.json`
-- base     value in the first run; null if there is none
-- other    value in the second run; null if there is none
CREATE MACRO setting_diff(base, other) AS TABLE
    WITH
    sides AS (
        SELECT
            topic,
            setting,
            evidence,
            any_value(value) FILTER (WHERE run_id = base) AS base_value,
            any_value(value) FILTER (WHERE run_id = other) AS other_value
        FROM run_settings
        WHERE run_id IN (base, other)
        GROUP BY topic, setting, evidence
    ),

    -- Prefer evidence that exists for both runs, then `run.json` over the trace.
    chosen AS (
        SELECT *
        FROM sides
        QUALIFY row_number() OVER (
            PARTITION BY topic, setting
            ORDER BY base_value IS NULL OR other_value IS NULL, evidence
        ) = 1
    ),

    described AS (
        SELECT count(*) FILTER (WHERE run_json::VARCHAR <> '{}') = 2 AS are_both_described
        FROM runs
        WHERE run_id IN (base, other)
    )

    SELECT
        chosen.topic,
        chosen.setting,
        CASE
            WHEN chosen.base_value = chosen.other_value THEN 'same'
            WHEN chosen.base_value <> chosen.other_value OR chosen.topic = 'tag' THEN 'different'
            WHEN chosen.evidence = 'run' AND described.are_both_described THEN 'different'
            ELSE 'unknown'
        END AS status,
        chosen.base_value AS base,
        chosen.other_value AS other
    FROM chosen
    CROSS JOIN described
    ORDER BY chosen.topic, chosen.setting;
