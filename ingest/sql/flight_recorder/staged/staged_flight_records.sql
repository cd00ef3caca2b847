-- Entries in dumps of the flight recorder, with the names of the file. Null where the dump's
-- version has no such field. JSON has 0 where a pickle has None.
-- One row: an entry.
CREATE TABLE staged_flight_records (
    source_id INTEGER,
    ordinal BIGINT,
    record_id BIGINT,
    pg_id BIGINT,
    group_name VARCHAR,
    group_description VARCHAR,
    seq_id BIGINT,  -- of versions 1.x, which also counts point-to-point calls
    collective_seq_id BIGINT,
    p2p_seq_id BIGINT,
    op_id BIGINT,
    profiling_name VARCHAR,
    is_p2p BOOLEAN,
    input_sizes BIGINT[][],
    output_sizes BIGINT[][],
    input_dtypes VARCHAR[],
    output_dtypes VARCHAR[],
    time_created_ns BIGINT,
    time_discovered_started_ns BIGINT,
    time_discovered_completed_ns BIGINT,
    duration_ms DOUBLE,
    timeout_ms BIGINT,
    state VARCHAR,
    retired BOOLEAN,
    thread_name VARCHAR,
    thread_id VARCHAR,
    stack_id INTEGER
);
