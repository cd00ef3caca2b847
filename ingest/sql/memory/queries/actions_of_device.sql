-- The actions of the device with the memory curve $curve_id in the form that the replay needs.
-- Roles: 1 allocates, 2 frees, 3 requests a free, 4 completes a free; 0 does not concern an
-- allocation, or has no address. The lowest BIGINT represents null.
-- One row: an action.
SELECT
    ordinal,
    action_id,
    CASE
        WHEN address IS NULL THEN 0
        WHEN action = 'alloc' THEN 1
        WHEN action = 'free' THEN 2
        WHEN action = 'free_requested' THEN 3
        WHEN action = 'free_completed' THEN 4
        ELSE 0
    END::TINYINT AS role,
    coalesce(address, 0)::UBIGINT AS address,
    coalesce(bytes, 0) AS bytes,
    coalesce(time_ns, -9223372036854775808) AS time_ns,
    coalesce(stack_id, -9223372036854775808)::BIGINT AS stack_id,
    reserved_change(action, coalesce(bytes, 0))::BIGINT AS reserved_change
FROM memory_actions
INNER JOIN memory_devices USING (source_id, device_label)
WHERE memory_devices.curve_id = $curve_id;
