-- The stretch of each device, or of the host in a run without one, that its steps asked for.
-- One row: a device of an input file with measured steps.
-- Materialised: a relation reads it, and its file is written from it.
--
-- `wall` goes from the first step's start to the last one's end, or to the end of what they
-- launched. The window from `start_ns` to `end_ns` goes from the start of the first activity that
-- was launched in a step to the end of the last; where there was none, it is empty and at the end.
--
-- run_id         the run
-- source_id      the input file
-- rank           rank of the process
-- device         number of the device; null where the host is measured
-- measure        device, or host in a run without device activities
-- steps_from     how the steps were found, as in `steps`
-- step_name      what a step is, as there
-- steps          number of steps
-- wall_start_ns  Unix time at which the wall time begins, ns
-- wall_end_ns    Unix time at which it ends, ns
-- start_ns       Unix time from which activities count, ns
-- end_ns         Unix time up to which they count, ns
WITH
asked AS (
    SELECT source_id, device, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM activity_steps
    WHERE is_measured
    GROUP BY source_id, device
),

recordings AS (
    SELECT
        source_id,
        rank,
        steps_from,
        min(step_name) AS step_name,
        count(*) AS steps,
        min(start_ns) AS start_ns,
        max(start_ns + dur_ns) AS end_ns
    FROM steps
    GROUP BY source_id, rank, steps_from
),

rank_devices AS (
    SELECT DISTINCT rank, device, 'device' AS measure FROM kernels
    UNION ALL
    SELECT DISTINCT rank, NULL AS device, 'host' AS measure
    FROM steps
    WHERE NOT EXISTS (FROM kernels)
)

SELECT
    recordings.source_id,
    recordings.rank,
    rank_devices.device,
    rank_devices.measure,
    recordings.steps_from,
    recordings.step_name,
    recordings.steps,
    least(recordings.start_ns, asked.start_ns) AS wall_start_ns,
    greatest(recordings.end_ns, asked.end_ns) AS wall_end_ns,
    coalesce(asked.start_ns, recordings.end_ns) AS start_ns,
    coalesce(asked.end_ns, recordings.end_ns) AS end_ns
FROM recordings
INNER JOIN rank_devices ON recordings.rank = rank_devices.rank
LEFT JOIN asked
    ON
        recordings.source_id = asked.source_id
        AND rank_devices.device IS NOT DISTINCT FROM asked.device;
