-- Starts and ends of annotations that a snapshot holds.
-- One row: a start or an end.
CREATE TABLE staged_marks (
    source_id INTEGER,
    device_label VARCHAR,
    ordinal BIGINT,
    name VARCHAR,
    stage VARCHAR,
    time_ns BIGINT
);
