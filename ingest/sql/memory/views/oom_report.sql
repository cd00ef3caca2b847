-- The state of a device when it ran out of memory, replayed to that moment: a snapshot taken after
-- it shows what was left once the failure had freed memory.
-- One row: an out-of-memory error.
--
-- run_id              the run
-- source_id           the input file
-- rank                rank of the process
-- device_type         cuda, cpu, xpu, …
-- device              number of the device; null for the CPU
-- ordinal             the error (`memory_events.ordinal`)
-- time_ns             Unix time, ns
-- requested_bytes     what was asked for, bytes
-- device_free_bytes   what the device had left, bytes
-- reserved_bytes      held by the allocator
-- active_bytes        of it in use, or with its free pending
-- free_bytes          of it free
-- largest_free_bytes  the largest free piece in one segment; null where no segments are known
-- user_frame          line of the user's code that asked
-- top_owners          lines of code that held most: (name, bytes, allocations), ten at most
-- stack_id            stack that asked (`stacks.stack_id`)
WITH
ooms AS NOT MATERIALIZED (
    SELECT *, active_bytes AS used_bytes FROM memory_events WHERE action = 'oom'
),

layouts AS (
    SELECT run_id, source_id, device_type, device, ordinal, max(bytes) AS largest_free_bytes
    FROM memory_layout_at('ooms')
    WHERE state = 'free'
    GROUP BY run_id, source_id, device_type, device, ordinal
),

owners AS (
    SELECT
        run_id,
        source_id,
        device_type,
        device,
        ordinal,
        list(
            struct_pack(name := name, bytes := bytes, allocations := allocations)
            ORDER BY bytes DESC, name
        )[:10] AS top_owners
    FROM memory_by_owner_at('ooms')
    WHERE level = 'frame'
    GROUP BY run_id, source_id, device_type, device, ordinal
)

SELECT
    ooms.run_id,
    ooms.source_id,
    ooms.rank,
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
LEFT JOIN stacks ON ooms.run_id = stacks.run_id AND ooms.stack_id = stacks.stack_id
LEFT JOIN layouts
    ON
        ooms.run_id = layouts.run_id
        AND ooms.source_id = layouts.source_id
        AND ooms.device_type = layouts.device_type
        AND ooms.device IS NOT DISTINCT FROM layouts.device
        AND ooms.ordinal = layouts.ordinal
LEFT JOIN owners
    ON
        ooms.run_id = owners.run_id
        AND ooms.source_id = owners.source_id
        AND ooms.device_type = owners.device_type
        AND ooms.device IS NOT DISTINCT FROM owners.device
        AND ooms.ordinal = owners.ordinal;
