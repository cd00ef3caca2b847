-- What the allocators did, action by action, with the totals after each.
-- One row: an action of an allocator, from a snapshot, a trace or a memory timeline.
--
-- run_id             the run
-- source_id          the input file
-- rank               rank of the process
-- device_type        cuda, cpu, xpu, …; `unknown` where a timeline does not say
-- device             number of the device; null for the CPU
-- ordinal            actions of the device before it, in the input file
-- origin             snapshot, trace (the profiler's `[memory]` events) or timeline
-- time_ns            Unix time, ns; null in snapshots of torch before 2.2, and for what a timeline
--                    begins with
-- action             of a snapshot: alloc, free_requested, free_completed, segment_alloc,
--                    segment_free, segment_map, segment_unmap, snapshot, oom; of a trace: alloc,
--                    free; of a timeline: PREEXISTING, CREATE, INCREMENT_VERSION, DESTROY
-- address            where; null where not recorded
-- bytes              size: as requested, of a snapshot; as allocated, of a trace
-- change_bytes       what it adds to `allocated_bytes`
-- stream             stream of the action
-- pool               ids of the private pool; (0, 0) is the common one
-- stack_id           stack that acted (`stacks.stack_id`)
-- forward_stack_id   in a backward pass, the stack of the forward operator (`stacks.stack_id`)
-- category           what the memory is for, where recorded: PARAMETER, ACTIVATION, …
-- compile_context    compilation the action belongs to, where recorded
-- user_metadata      the program's own note
-- device_free_bytes  free memory of the device, of an `oom`
-- active_bytes       total after it, with allocations whose free is pending; snapshots only
-- allocated_bytes    total after it
-- reserved_bytes     memory that the allocator holds of the device after it
-- event_id           the action in a trace (`other_events.event_id`)
-- other              what else was recorded (JSON)
SELECT
    actions.source_id,
    sources.rank,
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
