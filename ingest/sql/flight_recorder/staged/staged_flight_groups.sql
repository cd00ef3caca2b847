-- Process groups in dumps of the flight recorder (`pg_config`). Gloo records none.
-- One row: a group of a dump.
CREATE TABLE staged_flight_groups (
    source_id INTEGER, group_name VARCHAR, group_description VARCHAR, ranks INTEGER[]
);
