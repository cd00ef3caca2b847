-- Runs in the store.
-- One row: a run.
-- Indexed: Questions of all runs begin with it.
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
-- note               the user's own words about the run
-- path               absolute path of the directory or file that was added; null where paths are
--                    redacted
-- schema_version     what tables and columns the version of tracehouse that wrote the run has
-- logic_version      how that version fills them: figures of runs with different ones may differ
-- run_json           run.json, secrets redacted (JSON)
WITH
-- Compilations count where nothing else was recorded: those of a warm-up come before the profile.
first AS (
    SELECT coalesce(
        least((SELECT min(start_ns) FROM complete), (SELECT min(first_ns) FROM memory_devices)),
        (SELECT min(start_ns) FROM compilations)
    ) / 1e9 AS time_s
)

SELECT
    run.* REPLACE (
        -- before 2001 a clock counts from boot, not from the epoch
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
