-- Blocks that were in use when the snapshot was taken and of which its actions say nothing: they
-- live on throughout. Where the free of such a block is pending, an action may tell when it was
-- requested.
-- One row: a block, with columns of `replayed_lives`.
-- Materialised: its reader joins it, and DuckDB then knows its size.
WITH
asked AS (
    SELECT
        source_id,
        device_label,
        address,
        max(ordinal) FILTER (WHERE action = 'free_requested') AS requested_ordinal,
        arg_max(time_ns, ordinal) FILTER (WHERE action = 'free_requested') AS requested_ns,
        max(ordinal) FILTER (WHERE action = 'free_completed') AS completed_ordinal
    FROM memory_actions
    WHERE
        (source_id, device_label, address) IN (
            SELECT (source_id, device_label, address)
            FROM staged_blocks
            WHERE state NOT IN ('active_allocated', 'inactive')
        )
    GROUP BY source_id, device_label, address
),

-- A free that was requested, and not completed since.
pending AS (
    SELECT * FROM asked WHERE requested_ordinal > coalesce(completed_ordinal, -1)
)

SELECT
    devices.device_id,
    block.address,
    coalesce(block.requested_bytes, block.bytes) AS bytes,
    CASE WHEN block.state <> 'active_allocated' THEN coalesce(pending.requested_ordinal, -1) END
        AS free_requested_ordinal,
    pending.requested_ns AS free_requested_ns,
    block.stack_id
FROM staged_blocks AS block
INNER JOIN memory_devices AS devices USING (source_id, device_label)
LEFT JOIN pending USING (source_id, device_label, address)
WHERE
    block.state <> 'inactive'
    AND NOT EXISTS (
        FROM replayed_lives AS lives
        WHERE
            lives.device_id = devices.device_id
            AND lives.address = block.address
            AND lives.alloc_ordinal IS NOT NULL
            AND lives.free_ordinal IS NULL
    );
