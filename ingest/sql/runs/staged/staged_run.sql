-- Data about the run from its labels, its files and run.json, with the columns of table `runs`;
-- `started_at` is null if run.json does not have it.
-- One row: the run.
CREATE TABLE staged_run (
    name VARCHAR,
    model VARCHAR,
    mode VARCHAR,
    framework VARCHAR,
    framework_version VARCHAR,
    device_name VARCHAR,
    world_size INTEGER,
    started_at TIMESTAMP,
    ingested_at TIMESTAMP,
    tags MAP (VARCHAR, VARCHAR),
    note VARCHAR,
    path VARCHAR,
    schema_version VARCHAR,
    logic_version VARCHAR,
    run_json JSON
);
