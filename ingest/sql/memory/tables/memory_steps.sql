-- Steps in the memory of each device. They are the profiler's steps if the run has those on the
-- same clock, or else the annotations `ProfilerStep#N`, or else the intervals that end with an
-- optimizer's step.
-- One row: a step of a device in an input file.
-- Materialised: another relation reads it, and its file is written from it.
--
-- run_id, source_id, rank, device_id, device_type, device
-- step      number of the step: the profiler's, or else counted from 0
-- start_ns  Unix time of the start, ns; null if the step began before the first action
-- end_ns    Unix time of the end, ns; null if the step was still running at the end
-- start_ordinal, end_ordinal
-- origin    where the step comes from: profiler, annotation or optimizer
WITH
devices AS (
    SELECT devices.*, sources.rank
    FROM memory_devices AS devices
    INNER JOIN staged_sources AS sources USING (source_id)
    WHERE devices.actions > 0
),

profiled AS (
    SELECT
        devices.source_id,
        devices.device_label,
        steps.step,
        min(steps.start_ns) AS start_ns,
        max(steps.start_ns + steps.dur_ns) AS end_ns,
        'profiler' AS origin
    FROM devices
    INNER JOIN profiler_steps AS steps
        ON
            devices.rank = steps.rank
            AND devices.first_ns <= steps.start_ns + steps.dur_ns
            AND devices.last_ns >= steps.start_ns
    GROUP BY devices.source_id, devices.device_label, steps.step
),

annotations AS (
    SELECT *, device_label(device_type, device) AS device_label FROM memory_annotations
),

annotated AS (
    SELECT
        source_id,
        device_label,
        try_cast(regexp_extract(name, '^ProfilerStep#([0-9]+)', 1) AS BIGINT) AS step,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns,
        'annotation' AS origin
    FROM annotations
    WHERE name LIKE 'ProfilerStep#%'
    GROUP BY source_id, device_label, step
    HAVING step IS NOT NULL
),

-- If there are several optimizers, use the one that steps most often.
optimizers AS (
    SELECT source_id, device_label, arg_min(name, (-ends, name)) AS name
    FROM (
        SELECT source_id, device_label, name, count(end_ns) AS ends
        FROM annotations
        WHERE name LIKE 'Optimizer.step#%'
        GROUP BY source_id, device_label, name
    )
    GROUP BY source_id, device_label
),

optimized AS (
    SELECT
        source_id,
        device_label,
        row_number() OVER in_time - 1 AS step,
        lag(end_ns) OVER in_time AS start_ns,
        end_ns,
        'optimizer' AS origin
    FROM annotations
    INNER JOIN optimizers USING (source_id, device_label, name)
    WHERE end_ns IS NOT NULL
    WINDOW in_time AS (PARTITION BY source_id, device_label ORDER BY end_ns)
),

-- The time after the last optimizer's step is a step that has not ended.
unended AS (
    SELECT
        source_id,
        device_label,
        max(step) + 1 AS step,
        max(end_ns) AS start_ns,
        NULL::BIGINT AS end_ns,
        'optimizer' AS origin
    FROM optimized
    GROUP BY source_id, device_label
),

found AS (
    SELECT
        *,
        rank() OVER (
            PARTITION BY source_id, device_label
            ORDER BY CASE origin WHEN 'profiler' THEN 0 WHEN 'annotation' THEN 1 ELSE 2 END
        ) AS choice
    FROM (
        FROM profiled
        UNION ALL BY NAME
        FROM annotated
        UNION ALL BY NAME
        FROM optimized
        UNION ALL BY NAME
        FROM unended
    )
)

SELECT
    found.source_id,
    devices.rank,
    memory_device_id(devices.rank, found.device_label) AS device_id,
    device_type_of(found.device_label) AS device_type,
    device_of(found.device_label) AS device,
    found.step,
    found.start_ns,
    found.end_ns,
    if(found.start_ns IS NULL, 0, coalesce(at_start.ordinal + 1, 0)) AS start_ordinal,
    if(found.end_ns IS NULL, devices.actions, coalesce(at_end.ordinal + 1, 0)) AS end_ordinal,
    found.origin
FROM found
INNER JOIN devices
    ON found.source_id = devices.source_id AND found.device_label = devices.device_label
ASOF LEFT JOIN action_moments AS at_start
    ON
        found.source_id = at_start.source_id
        AND found.device_label = at_start.device_label
        AND found.start_ns > at_start.time_ns
ASOF LEFT JOIN action_moments AS at_end
    ON
        found.source_id = at_end.source_id
        AND found.device_label = at_end.device_label
        AND found.end_ns > at_end.time_ns
WHERE found.choice = 1 AND (found.end_ns IS NOT NULL OR devices.last_ns > found.start_ns);
