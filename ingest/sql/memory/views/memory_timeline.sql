-- The memory curve of each device, from snapshots, traces and memory timelines alike.
-- One row: a change of the curve; before the first, one with what was there at the start.
--
-- run_id           the run
-- source_id        the input file
-- rank             rank of the process
-- device           device, as PyTorch names it
-- ordinal          actions of the device before it, in the source; -1: the start
-- time_ns          Unix time, ns; null where it was not recorded
-- action           what happened; null at the start
-- allocated_bytes  allocated after it
-- active_bytes     allocated, or with its free pending; null where not recorded
-- reserved_bytes   held by the allocator; null where not recorded
-- origin           snapshot, trace or timeline
SELECT
    run_id,
    source_id,
    rank,
    device,
    ordinal,
    time_ns,
    action,
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
    device,
    -1 AS ordinal,
    first_ns AS time_ns,
    NULL AS action,
    start_allocated_bytes AS allocated_bytes,
    CASE WHEN origin = 'snapshot' THEN start_bytes END AS active_bytes,
    start_reserved_bytes AS reserved_bytes,
    origin
FROM memory_peak;
