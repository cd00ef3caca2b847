-- The memory curve of each device, from snapshots, traces and memory timelines. Its rows are the
-- moments that `memory_allocations_at`, `memory_by_owner_at`, `memory_layout_at` and `memory_map`
-- take as their argument.
-- One row: a moment, which is after an action of the device's allocator, or before the first
-- action.
--
-- run_id, source_id, rank, device_id, device_type, device
-- ordinal  the action (`memory_events.ordinal`); -1 before the first action
-- time_ns  Unix time, ns; null if it was not recorded
-- action, used_bytes, allocated_bytes, active_bytes, reserved_bytes, origin
SELECT
    run_id,
    source_id,
    rank,
    device_id,
    device_type,
    device,
    ordinal,
    time_ns,
    action,
    used_bytes,
    allocated_bytes,
    active_bytes,
    reserved_bytes,
    origin
FROM (
    SELECT *, coalesce(active_bytes, allocated_bytes) AS used_bytes FROM memory_events
    UNION ALL BY NAME
    SELECT
        *,
        -1 AS ordinal,
        first_ns AS time_ns,
        start_bytes AS used_bytes,
        start_allocated_bytes AS allocated_bytes,
        CASE WHEN origin = 'snapshot' THEN start_bytes END AS active_bytes,
        start_reserved_bytes AS reserved_bytes
    FROM memory_peak
);
