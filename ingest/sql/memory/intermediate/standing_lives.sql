-- Blocks that were in use when the snapshot was taken, but that no action allocated. They live
-- during the entire recording. If the free of such a block is pending, an action may show when it
-- was requested.
-- One row: a block, with columns of `replayed_lives`.
-- Materialised: DuckDB then knows its size when it plans a join.
WITH
requests AS (
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

-- Frees that were requested, but not completed since.
pending AS (
    SELECT * FROM requests WHERE requested_ordinal > coalesce(completed_ordinal, -1)
)

SELECT
    devices.curve_id,
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
            lives.curve_id = devices.curve_id
            AND lives.address = block.address
            AND lives.alloc_ordinal IS NOT NULL
            AND lives.free_ordinal IS NULL
    );
