-- The state of a device when it ran out of memory, replayed to that moment: a snapshot taken after
-- it shows what was left once the failure had freed memory.
-- One row: an out-of-memory error.
--
-- run_id              the run
-- source_id           the input file
-- rank                rank of the process
-- device              device, as PyTorch names it
-- ordinal             actions of the device before it
-- time_ns             Unix time, ns
-- requested_bytes     what was asked for, bytes
-- device_free_bytes   what the device had left, bytes
-- reserved_bytes      held by the allocator
-- active_bytes        of it in use, or with its free pending
-- free_bytes          of it free
-- largest_free_bytes  the largest free piece in one segment; null where no segments are known
-- site                line of the user's code that asked
-- top_sites           what held most: (name, bytes, elements), ten at most
-- stack_id            stack that asked
WITH
ooms AS NOT MATERIALIZED (
    SELECT *, active_bytes AS used_bytes FROM memory_events WHERE action = 'oom'
),

layouts AS (
    SELECT run_id, source_id, device, ordinal, max(bytes) AS largest_free_bytes
    FROM memory_layouts('ooms')
    WHERE state = 'free'
    GROUP BY run_id, source_id, device, ordinal
),

holders AS (
    SELECT
        run_id,
        source_id,
        device,
        ordinal,
        list(
            struct_pack(name := name, bytes := bytes, elements := elements)
            ORDER BY bytes DESC, name
        )[:10] AS top_sites
    FROM memory_sites_of('ooms')
    WHERE level = 'site'
    GROUP BY run_id, source_id, device, ordinal
)

SELECT
    ooms.run_id,
    ooms.source_id,
    ooms.rank,
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
    stacks.site,
    holders.top_sites,
    ooms.stack_id
FROM ooms
LEFT JOIN stacks ON ooms.run_id = stacks.run_id AND ooms.stack_id = stacks.stack_id
LEFT JOIN layouts
    ON
        ooms.run_id = layouts.run_id
        AND ooms.source_id = layouts.source_id
        AND ooms.device = layouts.device
        AND ooms.ordinal = layouts.ordinal
LEFT JOIN holders
    ON
        ooms.run_id = holders.run_id
        AND ooms.source_id = holders.source_id
        AND ooms.device = holders.device
        AND ooms.ordinal = holders.ordinal;
