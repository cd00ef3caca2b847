-- Intervals that the program annotated with a name, as recorded in memory snapshots.
-- One row: an annotation, from its start to its end.
--
-- run_id, source_id, rank, device_id, device_type, device
-- name      name of the annotation
-- start_ns  Unix time of the start, ns; null if only the end was recorded
-- end_ns    Unix time of the end, ns; null if only the start was recorded
-- start_ordinal, end_ordinal
WITH
nested AS (
    SELECT
        *,
        sum(if(stage = 'START', 1, -1)) OVER (
            PARTITION BY source_id, device_label, name ORDER BY ordinal ROWS UNBOUNDED PRECEDING
        ) + if(stage = 'START', 0, 1) AS depth  -- an end has the depth of its start
    FROM staged_marks
),

paired AS (
    SELECT
        *,
        lag(stage) OVER at_depth AS last_stage,
        lead(stage) OVER at_depth AS next_stage,
        lead(time_ns) OVER at_depth AS next_ns
    FROM nested
    WINDOW at_depth AS (PARTITION BY source_id, device_label, name, depth ORDER BY ordinal)
),

intervals AS (
    SELECT
        source_id,
        device_label,
        name,
        CASE WHEN stage = 'START' THEN time_ns END AS start_ns,
        CASE WHEN stage <> 'START' THEN time_ns WHEN next_stage <> 'START' THEN next_ns END
            AS end_ns
    FROM paired
    WHERE stage = 'START' OR (last_stage IS DISTINCT FROM 'START')
)

SELECT
    intervals.source_id,
    sources.rank,
    memory_device_id(sources.rank, intervals.device_label) AS device_id,
    device_type_of(intervals.device_label) AS device_type,
    device_of(intervals.device_label) AS device,
    intervals.name,
    intervals.start_ns,
    intervals.end_ns,
    CASE WHEN intervals.start_ns IS NOT NULL THEN coalesce(at_start.ordinal + 1, 0) END
        AS start_ordinal,
    CASE WHEN intervals.end_ns IS NOT NULL THEN coalesce(at_end.ordinal + 1, 0) END AS end_ordinal
FROM intervals
INNER JOIN staged_sources AS sources USING (source_id)
ASOF LEFT JOIN action_moments AS at_start
    ON
        intervals.source_id = at_start.source_id
        AND intervals.device_label = at_start.device_label
        AND intervals.start_ns > at_start.time_ns
ASOF LEFT JOIN action_moments AS at_end
    ON
        intervals.source_id = at_end.source_id
        AND intervals.device_label = at_end.device_label
        AND intervals.end_ns > at_end.time_ns;
