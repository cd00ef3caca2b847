-- Stretches of time that a program named, as snapshots record them.
-- One row: an annotation, from its start to its end.
--
-- run_id         the run
-- source_id      the input file
-- rank           rank of the process
-- device_type    cuda, cpu, xpu, …
-- device         number of the device; null for the CPU
-- name           its name
-- start_ns       Unix time at which it began, ns; null where only its end was recorded
-- end_ns         Unix time at which it ended, ns; null where only its start was recorded
-- start_ordinal  actions of the device before its start
-- end_ordinal    actions of the device before its end
WITH
nested AS (
    SELECT
        *,
        sum(if(stage = 'START', 1, -1)) OVER (
            PARTITION BY source_id, device_label, name ORDER BY ordinal ROWS UNBOUNDED PRECEDING
        ) + if(stage = 'START', 0, 1) AS depth  -- an end is as deep as its start
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

stretches AS (
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
    stretches.source_id,
    sources.rank,
    device_type_of(stretches.device_label) AS device_type,
    device_of(stretches.device_label) AS device,
    stretches.name,
    stretches.start_ns,
    stretches.end_ns,
    CASE WHEN stretches.start_ns IS NOT NULL THEN coalesce(at_start.ordinal + 1, 0) END
        AS start_ordinal,
    CASE WHEN stretches.end_ns IS NOT NULL THEN coalesce(at_end.ordinal + 1, 0) END AS end_ordinal
FROM stretches
INNER JOIN staged_sources AS sources USING (source_id)
ASOF LEFT JOIN action_moments AS at_start
    ON
        stretches.source_id = at_start.source_id
        AND stretches.device_label = at_start.device_label
        AND stretches.start_ns > at_start.time_ns
ASOF LEFT JOIN action_moments AS at_end
    ON
        stretches.source_id = at_end.source_id
        AND stretches.device_label = at_end.device_label
        AND stretches.end_ns > at_end.time_ns;
