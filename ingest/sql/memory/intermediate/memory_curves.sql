-- The memory of each device after each of its actions, relative to its start.
-- One row: an action.
-- Filled by: replay(memory_devices, memory_actions)
CREATE TABLE memory_curves (
    curve_id INTEGER,
    action_id BIGINT,
    ordinal BIGINT,
    change_bytes BIGINT,
    active_bytes BIGINT,
    allocated_bytes BIGINT,
    reserved_bytes BIGINT
);
