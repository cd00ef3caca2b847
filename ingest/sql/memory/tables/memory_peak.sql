-- The memory curve of each device at a glance: its start, its peak and its end.
-- One row: a device in a source.
-- Materialised: several relations read it.
--
-- run_id               the run
-- source_id            the input file
-- rank                 rank of the process
-- device_type          cuda, cpu, xpu, …
-- device               number of the device; null for the CPU
-- origin               snapshot, trace or timeline
-- actions              actions of its allocator; 0 where the snapshot has no history
-- allocations          allocations whose life is known; 0 where no addresses were recorded
-- first_ns             Unix time of the first action, ns
-- last_ns              Unix time of the last, ns
-- start_bytes          in use before the first action: active memory of a snapshot, allocated
--                      memory of a trace or timeline; the least it can be, where not recorded
-- start_allocated_bytes  allocated before the first action, without what a free was pending of
-- peak_bytes           the most of it that there was
-- peak_ordinal         the action after which it was reached first (`memory_events.ordinal`); -1:
--                      before the first
-- peak_ns              Unix time of that action, ns
-- end_bytes            in use after the last action
-- start_reserved_bytes  held by the allocator before the first action; null where not recorded
-- peak_reserved_bytes  the most that it held
-- end_reserved_bytes   held after the last action
WITH
used AS (
    SELECT
        device_id,
        ordinal,
        action_id,
        coalesce(active_bytes, allocated_bytes) AS used_bytes,
        reserved_bytes
    FROM memory_totals
),

highest AS (
    SELECT
        device_id,
        max(used_bytes) AS peak_bytes,
        arg_min(ordinal, (-used_bytes, ordinal)) AS peak_ordinal,
        arg_min(action_id, (-used_bytes, ordinal)) AS peak_id,
        arg_max(used_bytes, ordinal) AS end_bytes,
        max(reserved_bytes) AS peak_reserved_bytes,
        arg_max(reserved_bytes, ordinal) AS end_reserved_bytes
    FROM used
    GROUP BY device_id
),

lives AS (
    SELECT device_id, count(*) AS allocations FROM memory_lives GROUP BY device_id
),

starts AS (
    SELECT *, coalesce(active_bytes, allocated_bytes) AS start_bytes FROM memory_starts
)

SELECT
    starts.source_id,
    sources.rank,
    device_type_of(starts.device_label) AS device_type,
    device_of(starts.device_label) AS device,
    starts.origin,
    starts.actions,
    coalesce(lives.allocations, 0) AS allocations,
    starts.first_ns,
    starts.last_ns,
    starts.start_bytes,
    starts.allocated_bytes AS start_allocated_bytes,
    greatest(starts.start_bytes, highest.peak_bytes) AS peak_bytes,
    if(highest.peak_bytes > starts.start_bytes, highest.peak_ordinal, -1) AS peak_ordinal,
    if(highest.peak_bytes > starts.start_bytes, peak_action.time_ns, starts.first_ns) AS peak_ns,
    coalesce(highest.end_bytes, starts.start_bytes) AS end_bytes,
    starts.reserved_bytes AS start_reserved_bytes,
    greatest(starts.reserved_bytes, highest.peak_reserved_bytes) AS peak_reserved_bytes,
    coalesce(highest.end_reserved_bytes, starts.reserved_bytes) AS end_reserved_bytes
FROM starts
INNER JOIN staged_sources AS sources ON starts.source_id = sources.source_id
LEFT JOIN highest ON starts.device_id = highest.device_id
LEFT JOIN lives ON starts.device_id = lives.device_id
LEFT JOIN memory_actions AS peak_action ON highest.peak_id = peak_action.action_id;
