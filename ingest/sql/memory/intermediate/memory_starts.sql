-- The memory of each device before its first action. If a trace has no totals, this is a lower
-- bound.
-- One row: a device in an input file.
-- Materialised: several relations read it.
WITH
allocations AS (
    SELECT
        curve_id,
        sum(bytes) AS active_bytes,
        sum(bytes) FILTER (WHERE free_requested_ordinal IS DISTINCT FROM -1) AS allocated_bytes
    FROM memory_lives
    WHERE alloc_ordinal IS NULL
    GROUP BY curve_id
),

segments AS (
    SELECT source_id, device_label, sum(bytes) AS reserved_bytes
    FROM staged_segments
    GROUP BY source_id, device_label
),

curves AS (
    SELECT
        curve_id,
        arg_max(reserved_bytes, ordinal) AS end_reserved_bytes,
        min(allocated_bytes) AS least_allocated_bytes
    FROM memory_curves
    GROUP BY curve_id
),

recorded AS (
    SELECT
        source_id,
        device_label,
        arg_min(recorded_allocated_bytes - change_bytes, ordinal) AS allocated_bytes,
        arg_min(recorded_reserved_bytes, ordinal) AS reserved_bytes
    FROM memory_actions
    WHERE recorded_allocated_bytes IS NOT NULL
    GROUP BY source_id, device_label
)

SELECT
    devices.*,
    CASE WHEN devices.origin = 'snapshot' THEN coalesce(allocations.active_bytes, 0) END::BIGINT
        AS active_bytes,
    CASE
        WHEN devices.origin = 'snapshot' THEN coalesce(allocations.allocated_bytes, 0)
        ELSE coalesce(recorded.allocated_bytes, greatest(0, -curves.least_allocated_bytes), 0)
    END::BIGINT AS allocated_bytes,
    CASE
        WHEN devices.origin <> 'snapshot' THEN recorded.reserved_bytes
        ELSE coalesce(segments.reserved_bytes, 0) - coalesce(curves.end_reserved_bytes, 0)
    END::BIGINT AS reserved_bytes
FROM memory_devices AS devices
LEFT JOIN allocations USING (curve_id)
LEFT JOIN curves USING (curve_id)
LEFT JOIN segments USING (source_id, device_label)
LEFT JOIN recorded USING (source_id, device_label);
