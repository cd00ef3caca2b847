-- Lives of allocations, as ordinals of the actions of their device. `alloc_ordinal` is null if the
-- memory was in use at the start. `free_ordinal` is null if it was still in use at the end. The
-- memory counts as allocated up to `free_requested_ordinal`, which is -1 if the free was requested
-- before the trace began.
-- One row: an allocation that an action begins or ends.
-- Filled by: replay(memory_devices, memory_actions)
CREATE TABLE replayed_lives (
    curve_id INTEGER,
    address UBIGINT,
    bytes BIGINT,
    alloc_ordinal BIGINT,
    free_requested_ordinal BIGINT,
    free_ordinal BIGINT,
    action_id BIGINT,  -- its first recorded action
    alloc_ns BIGINT,
    free_requested_ns BIGINT,
    free_ns BIGINT,
    stack_id INTEGER,
    free_stack_id INTEGER
);
