-- Runs in the store.
-- One row: a run.
-- Indexed: Queries over all runs begin with it.
-- Materialised: several statements read it, and planning it takes longer than reading its rows.
--
-- run_id             name of the run's directory: the run's name and eight digits of a hash of its
--                    content
-- name               name given by the user, or else from run.json, or else of the directory or
--                    file
-- model, mode
-- framework          pytorch or megengine
-- framework_version  version of the framework
-- device_name        name of the device in the trace or run.json; null if there was none
-- world_size         number of processes of the job
-- started_at         when the profile began, UTC; null if the times in the trace have no known
--                    origin
-- ingested_at, tags, note
-- path               absolute path of the directory or file that was added; null if paths are
--                    redacted
-- schema_version     version of the tables and columns, set by the tracehouse that wrote the run
-- logic_version      version of the logic that fills the tables; metrics of runs with different
--                    versions may differ
-- run_json           run.json, secrets redacted (JSON)
WITH
-- Use compilations only if nothing else was recorded: a warm-up compiles before the profile.
first AS (
    SELECT coalesce(
        least((SELECT min(start_ns) FROM complete), (SELECT min(first_ns) FROM memory_devices)),
        (SELECT min(start_ns) FROM compilations)
    ) / 1e9 AS time_s
)

SELECT
    run.* REPLACE (
        -- A time before 2001 counts from boot, not from the epoch.
        coalesce(
            run.started_at,
            CASE
                WHEN first.time_s >= 1e9
                    THEN make_timestamp(
                        floor(first.time_s)::BIGINT * 1_000_000
                        + round_even((first.time_s - floor(first.time_s)) * 1e6, 0)::BIGINT
                    )
            END
        ) AS started_at
    )
FROM staged_run AS run
CROSS JOIN first;
