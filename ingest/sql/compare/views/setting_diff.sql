-- The settings of two runs side by side: configuration, versions, environment, recording and tags:
-- `setting_diff(base, other)`.
-- One row: a setting that is known of one of the runs.
--
-- topic    configuration, version, environment, recording or tag
-- setting  its name: a subject of `run_conditions`, a key of `run.json`, or the key of a tag
-- status   same, different, or unknown: only one of the runs tells, and the other has nothing that
--          would, such as a `run.json`
-- base     the setting of the first run; null where it has none
-- other    that of the second
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

    -- What the same evidence says of both runs comes first, and `run.json` before the trace.
    told AS (
        SELECT *
        FROM sides
        QUALIFY row_number() OVER (
            PARTITION BY topic, setting
            ORDER BY base_value IS NULL OR other_value IS NULL, evidence
        ) = 1
    ),

    described AS (
        SELECT count(*) FILTER (WHERE run_json::VARCHAR <> '{}') = 2 AS are_both
        FROM runs
        WHERE run_id IN (base, other)
    )

    SELECT
        told.topic,
        told.setting,
        CASE
            WHEN told.base_value = told.other_value THEN 'same'
            WHEN told.base_value <> told.other_value OR told.topic = 'tag' THEN 'different'
            WHEN told.evidence = 'run' AND described.are_both THEN 'different'
            ELSE 'unknown'
        END AS status,
        told.base_value AS base,
        told.other_value AS other
    FROM told
    CROSS JOIN described
    ORDER BY told.topic, told.setting;
