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
WITH
-- Compilations count where nothing else was recorded: those of a warm-up come before the profile.
first AS (
    SELECT coalesce(
        least((SELECT min(start_ns) FROM complete), (SELECT min(first_ns) FROM memory_devices)),
        (SELECT min(start_ns) FROM compilations)
    ) AS time_ns
)

SELECT
    run.* REPLACE (
        -- before 2001 a clock counts from boot, not from the epoch
        coalesce(
            run.started_at,
            CASE
                WHEN first.time_ns >= 1_000_000_000_000_000_000
                    THEN make_timestamp((first.time_ns + 500) // 1000)  -- takes µs
            END
        ) AS started_at
    )
FROM staged_run AS run
CROSS JOIN first;
