-- Devices whose memory a source records.
-- One row: a device in an input file.
-- Materialised: `curve_id` is a row number, and the replay queries it for each device.
SELECT
    (row_number() OVER (ORDER BY source_id, device_label) - 1)::INTEGER AS curve_id,
    source_id,
    device_label,
    coalesce(any_value(origin), 'snapshot') AS origin,
    sum(actions)::BIGINT AS actions,
    min(first_ns) AS first_ns,
    max(last_ns) AS last_ns
FROM (
    SELECT
        source_id,
        device_label,
        any_value(origin) AS origin,
        count(*) AS actions,
        min(time_ns) AS first_ns,
        max(time_ns) AS last_ns
    FROM memory_actions
    GROUP BY source_id, device_label
    UNION ALL
    SELECT DISTINCT
        source_id,
        device_label,
        'snapshot' AS origin,
        0 AS actions,
        NULL AS first_ns,
        NULL AS last_ns
    FROM staged_segments
)
GROUP BY source_id, device_label;
