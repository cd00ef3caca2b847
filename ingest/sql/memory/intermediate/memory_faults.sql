-- Warnings about the memory recorded in a source.
-- One row: a warning.
WITH
-- The curve of a genuine snapshot ends at the bytes of its active blocks.
ends AS (
    SELECT
        starts.source_id,
        starts.device_label,
        starts.actions,
        coalesce(last.active_bytes, starts.active_bytes) AS curve_bytes,
        coalesce(blocks.bytes, 0) AS block_bytes
    FROM memory_starts AS starts
    LEFT JOIN (
        SELECT curve_id, arg_max(active_bytes, ordinal) AS active_bytes
        FROM memory_totals
        GROUP BY curve_id
    ) AS last USING (curve_id)
    LEFT JOIN (
        SELECT source_id, device_label, sum(coalesce(requested_bytes, bytes)) AS bytes
        FROM staged_blocks
        WHERE state <> 'inactive'
        GROUP BY source_id, device_label
    ) AS blocks USING (source_id, device_label)
    WHERE starts.origin = 'snapshot' AND starts.reserved_bytes IS NOT NULL
),

jumps AS (
    SELECT source_id, device_label, count(*) AS jumps
    FROM (
        SELECT
            source_id,
            device_label,
            recorded_allocated_bytes - lag(recorded_allocated_bytes) OVER in_order
            - change_bytes AS unexplained_bytes
        FROM memory_actions
        WHERE recorded_allocated_bytes IS NOT NULL
        WINDOW in_order AS (PARTITION BY source_id, device_label ORDER BY ordinal)
    )
    WHERE unexplained_bytes <> 0
    GROUP BY source_id, device_label
)

SELECT
    source_id,
    'memory_curve_mismatch' AS code,
    format(
        '{}: the memory curve ends at {:,} bytes, but the active blocks hold {:,} bytes; the file '
        || 'may have been changed since PyTorch wrote it',
        device_label, curve_bytes, block_bytes
    ) AS message
FROM ends
WHERE curve_bytes <> block_bytes
UNION ALL
SELECT
    source_id,
    'memory_without_history' AS code,
    format('{}: the snapshot has no history, only its final state', device_label) AS message
FROM ends
WHERE actions = 0
UNION ALL
SELECT
    source_id,
    'memory_events_missing' AS code,
    format(
        '{}: {} change{} of the allocated memory without a recorded event; events are missing',
        device_label, jumps, if(jumps = 1, '', 's')
    ) AS message
FROM jumps
UNION ALL
SELECT
    devices.source_id,
    'memory_over_reserved' AS code,
    format(
        '{}: after {} action{}, more memory is in use than the allocator holds; the file may have '
        || 'been changed since PyTorch wrote it',
        any_value(devices.device_label), count(*), if(count(*) = 1, '', 's')
    ) AS message
FROM memory_totals AS totals
INNER JOIN memory_devices AS devices ON totals.curve_id = devices.curve_id
WHERE totals.active_bytes > totals.reserved_bytes
GROUP BY devices.curve_id, devices.source_id
UNION ALL
SELECT
    source_id,
    'memory_without_totals' AS code,
    string_agg(DISTINCT device_label, ', ' ORDER BY device_label)
    || ': no memory totals were recorded, so memory is counted from the first event' AS message
FROM memory_actions
WHERE origin = 'trace' AND recorded_allocated_bytes IS NULL
GROUP BY source_id
UNION ALL
SELECT
    source_id,
    'memory_without_addresses' AS code,
    string_agg(device_label, ', ' ORDER BY device_label)
    || ': no addresses were recorded, so allocations cannot be followed' AS message
FROM (
    SELECT source_id, device_label
    FROM memory_actions
    WHERE action IN ('alloc', 'free', 'CREATE', 'DESTROY')
    GROUP BY source_id, device_label
    HAVING count(address) = 0
)
GROUP BY source_id;
