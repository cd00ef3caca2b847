-- The start, the peak and the end of each device's memory curve.
-- One row: a device in an input file.
-- Materialised: several relations read it.
--
-- run_id, source_id, rank, device_id, device_type, device, origin
-- actions                number of actions of its allocator; 0 if the snapshot has no history
-- allocations            number of allocations that can be followed; 0 if no addresses were
--                        recorded
-- first_ns               Unix time of the first action, ns
-- last_ns                Unix time of the last action, ns
-- start_bytes            memory in use before the first action, bytes: active memory in a snapshot,
--                        allocated memory in a trace or timeline; a lower bound if it was not
--                        recorded
-- start_allocated_bytes  memory allocated before the first action, bytes; without memory that had a
--                        pending free
-- peak_bytes             the most memory in use, bytes
-- peak_ordinal           action after which the peak was first reached (`memory_events.ordinal`);
--                        -1 if it was reached before the first action
-- peak_ns                Unix time at which the peak was first reached, ns
-- end_bytes              memory in use after the last action, bytes
-- start_reserved_bytes   memory held by the allocator before the first action, bytes; null if not
--                        recorded
-- peak_reserved_bytes    the most memory held by the allocator, bytes
-- end_reserved_bytes     memory held by the allocator after the last action, bytes
WITH
used AS (
    SELECT
        curve_id,
        ordinal,
        action_id,
        coalesce(active_bytes, allocated_bytes) AS used_bytes,
        reserved_bytes
    FROM memory_totals
),

highest AS (
    SELECT
        curve_id,
        max(used_bytes) AS peak_bytes,
        arg_min(ordinal, (-used_bytes, ordinal)) AS peak_ordinal,
        arg_min(action_id, (-used_bytes, ordinal)) AS peak_id,
        arg_max(used_bytes, ordinal) AS end_bytes,
        max(reserved_bytes) AS peak_reserved_bytes,
        arg_max(reserved_bytes, ordinal) AS end_reserved_bytes
    FROM used
    GROUP BY curve_id
),

lives AS (
    SELECT curve_id, count(*) AS allocations FROM memory_lives GROUP BY curve_id
),

starts AS (
    SELECT *, coalesce(active_bytes, allocated_bytes) AS start_bytes FROM memory_starts
)

SELECT
    starts.source_id,
    sources.rank,
    memory_device_id(sources.rank, starts.device_label) AS device_id,
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
LEFT JOIN highest ON starts.curve_id = highest.curve_id
LEFT JOIN lives ON starts.curve_id = lives.curve_id
LEFT JOIN memory_actions AS peak_action ON highest.peak_id = peak_action.action_id;
