-- Runs in the store.
-- One row: a run.
--
-- run_id             name of the run's directory: the name and eight digits of its content's hash
-- name               name given, else the run.json's, else the directory's or file's
-- model              model that was profiled
-- mode               eager or compiled
-- framework          pytorch, megengine
-- framework_version  its version
-- device_name        device as the trace or run.json names it; null when it had none
-- world_size         processes of the job
-- started_at         when the profile began, UTC; null when the trace counts from no known time
-- ingested_at        when it was added, UTC
-- tags               the user's own keys and values
-- meta               run.json, secrets redacted (JSON)
CREATE TABLE runs (
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
    meta JSON
);
