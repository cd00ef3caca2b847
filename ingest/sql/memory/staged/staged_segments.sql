-- Segments of a device when the snapshot was taken.
-- One row: a segment.
CREATE TABLE staged_segments (
    source_id INTEGER,
    segment_id INTEGER,
    device_label VARCHAR,
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
