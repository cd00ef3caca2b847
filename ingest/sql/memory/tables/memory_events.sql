-- Actions of the memory allocators, with the totals after each action.
-- One row: an action of an allocator, from a snapshot, a trace or a memory timeline.
--
-- run_id, source_id, rank, device_id, device_type, device
-- ordinal            number of actions of the device before this one, in the input file
-- origin             snapshot, trace (the profiler's `[memory]` events) or timeline
-- time_ns            Unix time, ns; null in snapshots of torch before 2.2, and for the memory that
--                    a timeline begins with
-- action             in a snapshot: alloc, free_requested, free_completed, segment_alloc,
--                    segment_free, segment_map, segment_unmap, snapshot, oom; in a trace: alloc,
--                    free; in a timeline: PREEXISTING, CREATE, INCREMENT_VERSION, DESTROY
-- address            address of the memory; null if not recorded
-- bytes              size, bytes: the requested size in a snapshot, the allocated size in a trace
-- change_bytes       bytes that the action adds to `allocated_bytes`
-- stream             stream of the action
-- pool               ids of the private pool; (0, 0) is the common pool
-- stack_id           stack that caused the action (`stacks.stack_id`)
-- forward_stack_id   in a backward pass, the stack of the forward operator (`stacks.stack_id`)
-- category           purpose of the memory, if recorded: PARAMETER, ACTIVATION, …
-- compile_context    compilation that the action belongs to, if recorded
-- user_metadata      metadata that the program attached to the action
-- device_free_bytes  of an `oom`, free memory of the device, bytes
-- active_bytes       active memory after the action, bytes: allocated memory, and memory with a
--                    pending free; snapshots only
-- allocated_bytes    allocated memory after the action, bytes
-- reserved_bytes     device memory that the allocator holds after the action, bytes
-- event_id           event of the action in a trace (`other_events.event_id`)
-- other              other recorded data (JSON)
SELECT
    actions.source_id,
    sources.rank,
    memory_device_id(sources.rank, actions.device_label) AS device_id,
    device_type_of(actions.device_label) AS device_type,
    device_of(actions.device_label) AS device,
    actions.ordinal,
    actions.origin,
    actions.time_ns,
    actions.action,
    actions.address,
    actions.bytes,
    totals.change_bytes,
    actions.stream,
    actions.pool,
    actions.stack_id,
    actions.forward_stack_id,
    actions.category,
    actions.compile_context,
    actions.user_metadata,
    actions.device_free_bytes,
    totals.active_bytes,
    totals.allocated_bytes,
    totals.reserved_bytes,
    actions.event_id,
    actions.other
FROM memory_actions AS actions
INNER JOIN staged_sources AS sources ON actions.source_id = sources.source_id
INNER JOIN memory_totals AS totals ON actions.action_id = totals.action_id;
