-- The memory curve of each device, from snapshots, traces and memory timelines alike. Its rows are
-- the moments that `memory_allocations_at`, `memory_by_owner_at`, `memory_layout_at` and
-- `memory_map` take.
-- One row: a moment: after an action of the device's allocator, or before the first.
--
-- run_id           the run
-- source_id        the input file
-- rank             rank of the process
-- device_type      cuda, cpu, xpu, …; `unknown` where a timeline does not say
-- device           number of the device; null for the CPU
-- ordinal          the action (`memory_events.ordinal`); -1: before the first
-- time_ns          Unix time, ns; null where it was not recorded
-- action           what happened; null before the first
-- used_bytes       in use after it: active bytes of a snapshot, else allocated bytes
-- allocated_bytes  allocated after it
-- active_bytes     allocated, or with its free pending; null where not recorded
-- reserved_bytes   held by the allocator; null where not recorded
-- origin           snapshot, trace or timeline
SELECT
    run_id,
    source_id,
    rank,
    device_type,
    device,
    ordinal,
    time_ns,
    action,
    coalesce(active_bytes, allocated_bytes) AS used_bytes,
    allocated_bytes,
    active_bytes,
    reserved_bytes,
    origin
FROM memory_events
UNION ALL
SELECT
    run_id,
    source_id,
    rank,
    device_type,
    device,
    -1 AS ordinal,
    first_ns AS time_ns,
    NULL AS action,
    start_bytes AS used_bytes,
    start_allocated_bytes AS allocated_bytes,
    CASE WHEN origin = 'snapshot' THEN start_bytes END AS active_bytes,
    start_reserved_bytes AS reserved_bytes,
    origin
FROM memory_peak;
