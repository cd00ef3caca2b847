-- Lives of allocations, in ordinals of the actions of their device. `alloc_ordinal` is null where
-- the allocation was there at the start, `free_ordinal` where it was still there at the end. It
-- counts as allocated up to `free_requested_ordinal`, which is -1 where the free had been requested
-- before the trace began.
-- One row: an allocation that an action begins or ends.
-- Filled by: replay(memory_devices, memory_actions)
CREATE TABLE replayed_lives (
    device_id INTEGER,
    address UBIGINT,
    bytes BIGINT,
    alloc_ordinal BIGINT,
    free_requested_ordinal BIGINT,
    free_ordinal BIGINT,
    action_id BIGINT,  -- the first that is known of it
    alloc_ns BIGINT,
    free_requested_ns BIGINT,
    free_ns BIGINT,
    stack_id INTEGER,
    free_stack_id INTEGER
);
