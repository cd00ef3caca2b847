-- Data about each input file that is known once it is read, with the columns of table `sources`.
-- One row: an input file.
CREATE TABLE staged_files (
    source_id INTEGER,
    path VARCHAR,
    kind VARCHAR,
    rank INTEGER,
    cycle INTEGER,
    bytes BIGINT,
    json_bytes BIGINT,
    sha256 VARCHAR,
    events BIGINT,
    complete_events BIGINT,
    other_counts MAP (VARCHAR, BIGINT),
    dropped_counts MAP (VARCHAR, BIGINT),
    status VARCHAR,
    warnings VARCHAR[],
    warning_codes VARCHAR[],
    metadata JSON,
    known_devices STRUCT(
        number BIGINT,
        name VARCHAR,
        memory_bytes BIGINT,
        multiprocessors INTEGER,
        capability VARCHAR
    )[],
    conditions MAP (VARCHAR, VARCHAR)
);
