-- The `[memory]` events of the traces as actions: a free if the bytes are negative, or else an
-- allocation. Old traces have neither addresses nor totals. Sizes beyond a petabyte are not memory:
-- such events remain in `other_events` only. Devices have PyTorch's names, which are `cuda` for
-- ROCm's devices too.
-- One row: an action. `ordinal` orders by time, then by the order of the file.
-- Materialised: it parses JSON, and several relations read it.
WITH instants AS (
    SELECT
        staged.source_id,
        staged.event_id,
        sources.base_ns + staged.relative_ns AS time_ns,
        from_json(staged.args, '{"args": {
            "Bytes": "BIGINT", "Addr": "UBIGINT", "Device Type": "INTEGER", "Device Id": "INTEGER",
            "Total Allocated": "BIGINT", "Total Reserved": "BIGINT"
        }}').args AS a
    FROM staged
    INNER JOIN staged_sources AS sources ON staged.source_id = sources.source_id
    WHERE staged.name = '[memory]' AND staged.side IS NULL AND staged.phase IS NOT NULL
),

named AS (
    SELECT
        *,
        coalesce(a."Device Id"::VARCHAR, '?') AS id,
        CASE
            WHEN a."Device Type" = 0 THEN 'cpu'
            WHEN a."Device Type" IN (1, 6) THEN concat('cuda:', id)
            WHEN a."Device Type" = 12 THEN concat('xpu:', id)
            WHEN a."Device Type" = 13 THEN concat('mps:', id)
            WHEN a."Device Type" = 15 THEN concat('hpu:', id)
            WHEN a."Device Type" = 19 THEN concat('mtia:', id)
            WHEN a."Device Type" = 20 THEN concat('privateuse1:', id)
            ELSE concat('type ', coalesce(a."Device Type"::VARCHAR, '?'), ':', id)
        END AS device_label
    FROM instants
    WHERE a.bytes BETWEEN -(1::BIGINT << 50) AND 1::BIGINT << 50 AND time_ns IS NOT NULL
)

SELECT
    event_id AS action_id,
    source_id,
    'trace' AS origin,
    device_label,
    row_number() OVER (
        PARTITION BY source_id, device_label ORDER BY time_ns, event_id
    ) - 1 AS ordinal,
    time_ns,
    if(a.bytes < 0, 'free', 'alloc') AS action,
    a.addr AS address,
    abs(a.bytes) AS bytes,
    a.bytes AS change_bytes,
    CASE WHEN abs(a."Total Allocated"::HUGEINT) < 1::HUGEINT << 60 THEN a."Total Allocated" END
        AS recorded_allocated_bytes,
    CASE
        WHEN device_label <> 'cpu' AND abs(a."Total Reserved"::HUGEINT) < 1::HUGEINT << 60
            THEN a."Total Reserved"
    END AS recorded_reserved_bytes,
    event_id
FROM named;
