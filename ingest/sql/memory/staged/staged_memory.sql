-- What the allocators of a run did, as it stands in the files, before any meaning is given to it.
-- One row: an action: of a snapshot; of a trace's `[memory]` instants (of old ones, without address
-- and totals); of a memory timeline (with a category, and without an address).
CREATE TABLE staged_actions (
    action_id BIGINT,  -- unique in the run: source_id × 10¹² + a number
    source_id INTEGER,
    origin VARCHAR,  -- snapshot, trace or timeline
    device VARCHAR,
    ordinal BIGINT,  -- place among the device's actions in the source
    time_ns BIGINT,
    action VARCHAR,
    address UBIGINT,
    bytes BIGINT,
    change_bytes BIGINT,  -- signed, where a trace or timeline says so
    stream BIGINT,
    pool VARCHAR,
    stack_id INTEGER,
    forward_stack_id INTEGER,
    category VARCHAR,
    compile_context VARCHAR,
    user_metadata VARCHAR,
    device_free_bytes BIGINT,
    recorded_allocated_bytes BIGINT,  -- totals as the trace has them
    recorded_reserved_bytes BIGINT,
    event_id BIGINT,
    other JSON
);

-- The state in which a snapshot was taken.
CREATE TABLE staged_segments (
    source_id INTEGER,
    segment_id INTEGER,
    device VARCHAR,
    address UBIGINT,
    bytes BIGINT,
    allocated_bytes BIGINT,
    active_bytes BIGINT,
    requested_bytes BIGINT,
    stream BIGINT,
    kind VARCHAR,
    pool VARCHAR,
    is_expandable BOOLEAN,
    stack_id INTEGER
);

CREATE TABLE staged_blocks (
    source_id INTEGER,
    segment_id INTEGER,
    device VARCHAR,
    address UBIGINT,
    bytes BIGINT,
    requested_bytes BIGINT,
    state VARCHAR,
    stack_id INTEGER
);

CREATE TABLE staged_marks (
    source_id INTEGER, device VARCHAR, ordinal BIGINT, name VARCHAR, stage VARCHAR, time_ns BIGINT
);

CREATE TABLE staged_settings (source_id INTEGER, setting VARCHAR, value VARCHAR);

-- Stacks and frames of all snapshots of the run, each distinct one once.
CREATE TABLE staged_stacks (stack_id INTEGER, frame_ids INTEGER[]);

CREATE TABLE staged_frames (
    frame_id INTEGER, name VARCHAR, filename VARCHAR, line UBIGINT, other JSON
);

-- The bytes that an action adds to what the allocator holds of the device.
CREATE MACRO reserved_change(action, bytes) AS CASE
    WHEN action IN ('segment_alloc', 'segment_map') THEN bytes
    WHEN action IN ('segment_free', 'segment_unmap') THEN -bytes
    ELSE 0
END;
