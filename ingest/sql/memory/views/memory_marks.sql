-- Marks for the memory curve of a device: `memory_marks(run, of_source, of_device_id, axis, since,
-- until)`, with the axis of `memory_curve`.
-- One row: a step, an annotation or an out-of-memory error that overlaps the range.
--
-- kind            step, annotation or oom
-- name            number of the step, or name of the annotation; null for an oom
-- start_position  start on the axis; `since` if it began earlier
-- end_position    end on the axis; `until` if it ended later, or never
-- ordinal         number of the device's actions before the start
CREATE MACRO memory_marks(run, of_source, of_device_id, axis, since, until) AS TABLE
    WITH
    first_action AS (
        SELECT first_ns
        FROM memory_peak
        WHERE run_id = run AND source_id = of_source AND device_id = of_device_id
    ),

    found AS (
        SELECT
            'step' AS kind, step::VARCHAR AS name, start_ns, end_ns, start_ordinal, end_ordinal
        FROM memory_steps
        WHERE run_id = run AND source_id = of_source AND device_id = of_device_id
        UNION ALL
        SELECT 'annotation' AS kind, name, start_ns, end_ns, start_ordinal, end_ordinal
        FROM memory_annotations
        WHERE
            run_id = run
            AND source_id = of_source
            AND device_id = of_device_id
            AND NOT starts_with(name, 'ProfilerStep#')  -- these are the steps
        UNION ALL
        SELECT
            'oom' AS kind,
            NULL AS name,
            time_ns AS start_ns,
            time_ns AS end_ns,
            ordinal AS start_ordinal,
            ordinal AS end_ordinal
        FROM memory_events
        WHERE
            run_id = run
            AND source_id = of_source
            AND device_id = of_device_id
            AND action = 'oom'
    ),

    placed AS (
        SELECT
            found.kind,
            found.name,
            coalesce(
                CASE axis
                    WHEN 'time' THEN found.start_ns - first_action.first_ns
                    ELSE found.start_ordinal
                END, since::BIGINT
            ) AS start_position,
            coalesce(
                CASE axis
                    WHEN 'time' THEN found.end_ns - first_action.first_ns
                    ELSE found.end_ordinal
                END, until::BIGINT
            ) AS end_position,
            coalesce(found.start_ordinal, 0) AS ordinal
        FROM found
        CROSS JOIN first_action
    )

    SELECT
        kind,
        name,
        greatest(start_position, since::BIGINT) AS start_position,
        least(end_position, until::BIGINT) AS end_position,
        ordinal
    FROM placed
    WHERE start_position <= until::BIGINT AND end_position >= since::BIGINT;
