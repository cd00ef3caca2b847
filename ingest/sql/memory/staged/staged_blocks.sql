-- Blocks that the segments consisted of when the snapshot was taken.
-- One row: a block.
CREATE TABLE staged_blocks (
    source_id INTEGER,
    segment_id INTEGER,
    device_label VARCHAR,
    address UBIGINT,
    bytes BIGINT,
    requested_bytes BIGINT,
    state VARCHAR,
    stack_id INTEGER
);
