-- Starts and ends of the annotations in a snapshot.
-- One row: a start or an end.
CREATE TABLE staged_marks (
    source_id INTEGER,
    device_label VARCHAR,
    ordinal BIGINT,
    name VARCHAR,
    stage VARCHAR,
    time_ns BIGINT
);
