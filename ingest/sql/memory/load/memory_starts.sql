-- What there was before the first action. Without a trace's totals, that is the least that it can
-- have been; without any segment in a snapshot, what was reserved is not known.

-- Blocks that were in use when the snapshot was taken and of which the trace says nothing live on
-- throughout. Of those whose free is pending it may tell when that was requested.
INSERT INTO memory_lives BY NAME
WITH asked AS (
    SELECT
        source_id,
        device,
        address,
        max(ordinal) FILTER (WHERE action = 'free_requested') AS requested,
        arg_max(time_ns, ordinal) FILTER (WHERE action = 'free_requested') AS requested_ns,
        max(ordinal) FILTER (WHERE action = 'free_completed') AS completed
    FROM staged_actions
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
    END AS requested,
    CASE WHEN asked.requested > coalesce(asked.completed, -1) THEN asked.requested_ns END
        AS requested_ns,
    block.stack_id
FROM staged_blocks AS block
INNER JOIN memory_devices AS devices USING (source_id, device)
LEFT JOIN asked USING (source_id, device, address)
WHERE
    block.state <> 'inactive'
    AND NOT EXISTS (
        FROM memory_lives AS lives
        WHERE
            lives.device_id = devices.device_id
            AND lives.address = block.address
            AND lives.birth IS NOT NULL
            AND lives.death IS NULL
    );

-- One row: a device in a source.
CREATE TABLE memory_starts AS
WITH
elements AS (
    SELECT
        device_id,
        sum(bytes) AS active_bytes,
        sum(bytes) FILTER (WHERE requested IS DISTINCT FROM -1) AS allocated_bytes
    FROM memory_lives
    WHERE birth IS NULL
    GROUP BY device_id
),

segments AS (
    SELECT source_id, device, sum(bytes) AS reserved_bytes
    FROM staged_segments
    GROUP BY source_id, device
),

curves AS (
    SELECT
        device_id,
        arg_max(reserved_bytes, ordinal) AS end_reserved_bytes,
        max(abs(reserved_bytes)) > 0 AS has_segments,
        min(allocated_bytes) AS least_allocated_bytes
    FROM memory_curves
    GROUP BY device_id
),

recorded AS (
    SELECT
        source_id,
        device,
        arg_min(recorded_allocated_bytes - change_bytes, ordinal) AS allocated_bytes,
        arg_min(recorded_reserved_bytes, ordinal) AS reserved_bytes
    FROM staged_actions
    WHERE recorded_allocated_bytes IS NOT NULL
    GROUP BY source_id, device
)

SELECT
    devices.*,
    CASE WHEN devices.origin = 'snapshot' THEN coalesce(elements.active_bytes, 0) END::BIGINT
        AS active_bytes,
    CASE
        WHEN devices.origin = 'snapshot' THEN coalesce(elements.allocated_bytes, 0)
        ELSE coalesce(recorded.allocated_bytes, greatest(0, -curves.least_allocated_bytes), 0)
    END::BIGINT AS allocated_bytes,
    CASE
        WHEN devices.origin <> 'snapshot' THEN recorded.reserved_bytes
        WHEN segments.reserved_bytes IS NOT NULL OR curves.has_segments
            THEN coalesce(segments.reserved_bytes, 0) - coalesce(curves.end_reserved_bytes, 0)
    END::BIGINT AS reserved_bytes
FROM memory_devices AS devices
LEFT JOIN elements ON devices.device_id = elements.device_id
LEFT JOIN curves ON devices.device_id = curves.device_id
LEFT JOIN segments ON devices.source_id = segments.source_id AND devices.device = segments.device
LEFT JOIN recorded ON devices.source_id = recorded.source_id AND devices.device = recorded.device;

-- One row: an action, with what there is after it.
CREATE VIEW memory_totals AS
SELECT
    curves.device_id,
    curves.action_id,
    curves.ordinal,
    curves.change_bytes,
    starts.active_bytes + curves.active_bytes AS active_bytes,
    starts.allocated_bytes + curves.allocated_bytes AS allocated_bytes,
    starts.reserved_bytes + curves.reserved_bytes AS reserved_bytes
FROM memory_curves AS curves
INNER JOIN memory_starts AS starts ON curves.device_id = starts.device_id;
