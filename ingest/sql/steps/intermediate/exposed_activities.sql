-- Communication while no compute kernel ran, and copies while neither compute nor communication
-- ran, in each step. If activities of a class overlap, the time counts once, for the one that began
-- first.
-- One row: the part of a communication kernel, a copy or a memset in a step.
WITH
spans AS MATERIALIZED (
    SELECT
        source_id,
        device_id,
        step,
        class,
        hash(source_id, device_id, class) AS lane,
        row_number() OVER () AS part_id,
        greatest(start_ns, max(end_ns) OVER earlier) AS start_ns,
        end_ns
    FROM step_activities
    WHERE class IN ('communication', 'copy')
    WINDOW
        earlier AS (
            PARTITION BY source_id, device_id, class
            ORDER BY start_ns, event_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),

hidden_in AS MATERIALIZED (
    SELECT
        hash(source_id, device_id, if(class = 'compute', 'communication', 'copy')) AS lane,
        start_ns AS from_ns,
        end_ns AS to_ns
    FROM device_islands
    WHERE class IN ('compute', 'working')
),

hidden AS (
    SELECT part_id, sum(overlap_ns) AS ns
    FROM overlapping('spans', 'hidden_in')
    GROUP BY part_id
)

SELECT
    spans.source_id,
    spans.device_id,
    spans.step,
    spans.class,
    spans.end_ns - spans.start_ns - coalesce(hidden.ns, 0) AS exposed_ns
FROM spans
LEFT JOIN hidden ON spans.part_id = hidden.part_id
WHERE spans.end_ns > spans.start_ns;
