-- Lives of allocations, in ordinals of the actions of their device. One that was there at the start
-- has no birth, one that was still there at the end no death. It counts as allocated up to
-- `requested`, which is -1 where the free had been requested before the trace began.
-- One row: an allocation that an action begins or ends.
-- Filled by: replay(memory_devices, memory_actions)
CREATE TABLE replayed_lives (
    device_id INTEGER,
    address UBIGINT,
    bytes BIGINT,
    birth INTEGER,
    requested INTEGER,
    death INTEGER,
    action_id BIGINT,  -- the first that is known of it
    birth_ns BIGINT,
    requested_ns BIGINT,
    death_ns BIGINT,
    stack_id INTEGER,
    free_stack_id INTEGER
);
