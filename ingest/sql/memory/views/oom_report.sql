-- The state of a device when it ran out of memory, replayed to that moment. A snapshot taken after
-- the error shows only what was left once the failure had freed memory.
-- One row: an out-of-memory error.
--
-- run_id, source_id, rank, device_id, device_type, device
-- ordinal             the error (`memory_events.ordinal`)
-- time_ns
-- requested_bytes     bytes that the failed allocation requested
-- device_free_bytes   free memory of the device, bytes
-- reserved_bytes      memory held by the allocator, bytes
-- active_bytes        reserved bytes that are in use or have a pending free
-- free_bytes          reserved bytes that are free
-- largest_free_bytes  size of the largest free block in a segment, bytes; null if no segments are
--                     known
-- user_frame          line of the user's code that requested the memory
-- top_owners          lines of code that held the most memory: (name, bytes, allocations), at most
--                     ten
-- stack_id            stack that requested the memory (`stacks.stack_id`)
WITH
ooms AS NOT MATERIALIZED (
    SELECT *, active_bytes AS used_bytes FROM memory_events WHERE action = 'oom'
),

layouts AS (
    SELECT run_id, source_id, device_id, ordinal, max(bytes) AS largest_free_bytes
    FROM memory_layout_at('ooms')
    WHERE state = 'free'
    GROUP BY ALL
),

owners AS (
    SELECT
        run_id,
        source_id,
        device_id,
        ordinal,
        list(
            struct_pack(name := name, bytes := bytes, allocations := allocations)
            ORDER BY bytes DESC, name
        )[:10] AS top_owners
    FROM memory_by_owner_at('ooms')
    WHERE level = 'frame'
    GROUP BY ALL
)

SELECT
    ooms.run_id,
    ooms.source_id,
    ooms.rank,
    ooms.device_id,
    ooms.device_type,
    ooms.device,
    ooms.ordinal,
    ooms.time_ns,
    ooms.bytes AS requested_bytes,
    ooms.device_free_bytes,
    ooms.reserved_bytes,
    ooms.active_bytes,
    ooms.reserved_bytes - ooms.active_bytes AS free_bytes,
    coalesce(layouts.largest_free_bytes, if(ooms.reserved_bytes > 0, 0, NULL))
        AS largest_free_bytes,
    stacks.user_frame,
    owners.top_owners,
    ooms.stack_id
FROM ooms
LEFT JOIN stacks USING (run_id, stack_id)
LEFT JOIN layouts USING (run_id, source_id, device_id, ordinal)
LEFT JOIN owners USING (run_id, source_id, device_id, ordinal);
