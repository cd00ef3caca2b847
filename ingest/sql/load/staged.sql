-- Events as they stand in the files, before any meaning is given to them.
CREATE TABLE staged (
    source_id INTEGER,
    ordinal BIGINT,
    phase VARCHAR,
    category VARCHAR,
    name VARCHAR,
    pid VARCHAR,
    tid VARCHAR,
    id VARCHAR,
    relative_ns BIGINT,
    dur_ns BIGINT,
    event_index BIGINT,
    correlation BIGINT,
    external_id BIGINT,
    args JSON,
    byte_offset BIGINT,
    rejected_end BIGINT  -- where the piece ends, for one that is no event by itself
);

-- Input files as far as the SQL needs them; `base_ns` is what the file's times count from.
CREATE TABLE staged_sources (source_id INTEGER, rank INTEGER, base_ns BIGINT);
