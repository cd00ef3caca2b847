-- Communication while no compute kernel ran, and copies while neither compute nor communication
-- ran, in the measured window of their device. If activities of a class overlap, the time counts
-- once, for the one that began first.
-- One row: a communication kernel, a copy or a memset.
WITH
spans AS MATERIALIZED (
    SELECT
        activity.source_id,
        activity.device,
        activity.step,
        activity.class,
        hash(activity.source_id, activity.device, activity.class) AS lane,
        greatest(activity.start_ns, measured.start_ns, max(activity.end_ns) OVER earlier)
            AS start_ns,
        least(activity.end_ns, measured.end_ns) AS end_ns,
        activity.event_id
    FROM activity_steps AS activity
    INNER JOIN work_windows AS measured
        ON
            activity.source_id = measured.source_id
            AND activity.device IS NOT DISTINCT FROM measured.device
    WHERE measured.measure = 'device' AND activity.class IN ('communication', 'copy')
    WINDOW
        earlier AS (
            PARTITION BY activity.source_id, activity.device, activity.class
            ORDER BY activity.start_ns, activity.event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),

hidden_in AS MATERIALIZED (
    SELECT
        hash(source_id, device, if(class = 'compute', 'communication', 'copy')) AS lane,
        start_ns AS from_ns,
        end_ns AS to_ns
    FROM device_islands
    WHERE class IN ('compute', 'working')
),

hidden AS (
    SELECT event_id, sum(overlap_ns) AS ns
    FROM overlapping('spans', 'hidden_in')
    GROUP BY event_id
)

SELECT
    spans.source_id,
    spans.device,
    spans.step,
    spans.class,
    spans.end_ns - spans.start_ns - coalesce(hidden.ns, 0) AS exposed_ns
FROM spans
LEFT JOIN hidden ON spans.event_id = hidden.event_id
WHERE spans.end_ns > spans.start_ns;
