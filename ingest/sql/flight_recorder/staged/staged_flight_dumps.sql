-- Dumps of torch's flight recorder.
-- One row: a dump. `library_version` is that of the communication library, such as NCCL.
CREATE TABLE staged_flight_dumps (
    source_id INTEGER, version VARCHAR, library_version VARCHAR
);
