-- Actions of the run's allocators as recorded in the files, before interpretation.
-- One row: an action of a snapshot, or of a memory timeline (with a category, without an address).
CREATE TABLE staged_actions (
    action_id BIGINT,  -- unique in the run: id_in_run(source_id, number)
    source_id INTEGER,
    origin VARCHAR,  -- snapshot or timeline
    device_label VARCHAR,  -- torch's name of the device: cuda:0, cpu
    ordinal BIGINT,  -- number of earlier actions of the device in the source
    time_ns BIGINT,
    action VARCHAR,
    address UBIGINT,
    bytes BIGINT,
    change_bytes BIGINT,  -- signed, if a trace or timeline records it
    stream BIGINT,
    pool VARCHAR,
    stack_id INTEGER,
    forward_stack_id INTEGER,
    category VARCHAR,
    compile_context VARCHAR,
    user_metadata VARCHAR,
    device_free_bytes BIGINT,
    recorded_allocated_bytes BIGINT,  -- totals as recorded in the trace
    recorded_reserved_bytes BIGINT,
    event_id BIGINT,
    other JSON
);
