-- Devices whose memory a source records.
-- One row: a device in an input file.
-- Materialised: `curve_id` is a row number, and the replay queries it for each device.
SELECT
    (row_number() OVER (ORDER BY source_id, device_label) - 1)::INTEGER AS curve_id,
    source_id,
    device_label,
    coalesce(any_value(origin), 'snapshot') AS origin,
    count(ordinal) AS actions,
    min(time_ns) AS first_ns,
    max(time_ns) AS last_ns
FROM (
    SELECT source_id, device_label, origin, ordinal, time_ns  -- noqa: AM07
    FROM memory_actions
    UNION ALL BY NAME
    SELECT DISTINCT source_id, device_label FROM staged_segments
)
GROUP BY source_id, device_label;
