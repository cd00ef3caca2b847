-- What the allocators of a run did, as it stands in the files, before any meaning is given to it.
-- One row: an action of a snapshot, or of a memory timeline (with a category, without an address).
CREATE TABLE staged_actions (
    action_id BIGINT,  -- unique in the run: id_in_run(source_id, number)
    source_id INTEGER,
    origin VARCHAR,  -- snapshot or timeline
    device_label VARCHAR,  -- what torch calls the device: cuda:0, cpu
    ordinal BIGINT,  -- actions of the device before it, in the source
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
