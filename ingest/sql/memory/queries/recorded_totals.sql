-- The memory totals that a trace or timeline itself records, of the device with the memory curve
-- $curve_id. The lowest BIGINT represents null.
-- One row: an action.
SELECT
    ordinal,
    change_bytes,
    coalesce(recorded_allocated_bytes, -9223372036854775808) AS allocated_bytes,
    coalesce(recorded_reserved_bytes, -9223372036854775808) AS reserved_bytes
FROM memory_actions
INNER JOIN memory_devices USING (source_id, device_label)
WHERE memory_devices.curve_id = $curve_id;
