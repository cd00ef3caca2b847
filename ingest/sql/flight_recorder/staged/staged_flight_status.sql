-- Last collectives of process groups in dumps of the flight recorder (`pg_status`), -1 for none.
-- One row: a group of a dump, by its number in the process.
CREATE TABLE staged_flight_status (
    source_id INTEGER,
    pg_id BIGINT,
    last_enqueued_collective BIGINT,
    last_started_collective BIGINT,
    last_completed_collective BIGINT
);
