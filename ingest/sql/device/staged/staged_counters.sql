-- Values of counters as recorded in the files, before interpretation.
-- One row: a value. `event_id` is the event that has it, if there is one; `device` is null if the
-- file does not name one; `dur_ns` is null if the value holds until the next one of its counter.
-- Paths: track (frame_without_place)
CREATE TABLE staged_counters (
    source_id INTEGER,
    event_id BIGINT,
    device BIGINT,
    track VARCHAR,
    counter VARCHAR,
    relative_ns BIGINT,
    dur_ns BIGINT,
    value DOUBLE
);
