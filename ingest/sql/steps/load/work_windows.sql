-- `measured_windows` without the median step, which is computed later.
-- One row: a device of an input file with measured steps; in a run without a device, its host.
-- Materialised: several relations read it.
WITH
activity_windows AS (
    SELECT source_id, device, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM activity_steps
    WHERE is_measured
    GROUP BY source_id, device
),

recorded AS (
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
    recorded.source_id,
    recorded.rank,
    rank_devices.device,
    rank_devices.measure,
    recorded.steps_from,
    recorded.step_name,
    recorded.steps,
    least(recorded.start_ns, activity_windows.start_ns) AS start_ns,
    greatest(recorded.end_ns, activity_windows.end_ns) AS end_ns
FROM recorded
INNER JOIN rank_devices ON recorded.rank = rank_devices.rank
LEFT JOIN activity_windows
    ON
        recorded.source_id = activity_windows.source_id
        AND rank_devices.device IS NOT DISTINCT FROM activity_windows.device;
