-- Blocks that were in use when the snapshot was taken and of which its actions say nothing: they
-- live on throughout. Where the free of such a block is pending, an action may tell when it was
-- requested.
-- One row: a block, with columns of `replayed_lives`.
-- Materialised: its reader joins it, and DuckDB then knows its size.
WITH asked AS (
    SELECT
        source_id,
        device,
        address,
        max(ordinal) FILTER (WHERE action = 'free_requested') AS requested,
        arg_max(time_ns, ordinal) FILTER (WHERE action = 'free_requested') AS requested_ns,
        max(ordinal) FILTER (WHERE action = 'free_completed') AS completed
    FROM memory_actions
    WHERE
        (source_id, device, address) IN (
            SELECT (source_id, device, address)
            FROM staged_blocks
            WHERE state NOT IN ('active_allocated', 'inactive')
        )
    GROUP BY source_id, device, address
)

SELECT
    devices.device_id,
    block.address,
    coalesce(block.requested_bytes, block.bytes) AS bytes,
    CASE
        WHEN block.state = 'active_allocated' THEN NULL
        WHEN asked.requested > coalesce(asked.completed, -1) THEN asked.requested
        ELSE -1
    END::INTEGER AS requested,
    CASE WHEN asked.requested > coalesce(asked.completed, -1) THEN asked.requested_ns END
        AS requested_ns,
    block.stack_id
FROM staged_blocks AS block
INNER JOIN memory_devices AS devices USING (source_id, device)
LEFT JOIN asked USING (source_id, device, address)
WHERE
    block.state <> 'inactive'
    AND NOT EXISTS (
        FROM replayed_lives AS lives
        WHERE
            lives.device_id = devices.device_id
            AND lives.address = block.address
            AND lives.birth IS NOT NULL
            AND lives.death IS NULL
    );
