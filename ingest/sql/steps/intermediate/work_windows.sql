-- `measured_windows` without the median step, which is computed later.
-- One row: a device of an input file with measured steps; in a run without a device, its host.
-- Materialised: several relations read it.
WITH
activity_windows AS (
    SELECT source_id, device_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM activity_steps
    WHERE is_measured
    GROUP BY source_id, device_id
),

step_ranges AS (
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
)

SELECT
    step_ranges.source_id,
    step_ranges.rank,
    devices.device_id,
    devices.device,
    devices.measure,
    step_ranges.steps_from,
    step_ranges.step_name,
    step_ranges.steps,
    least(step_ranges.start_ns, activity_windows.start_ns) AS start_ns,
    greatest(step_ranges.end_ns, activity_windows.end_ns) AS end_ns
FROM step_ranges
INNER JOIN work_devices AS devices ON step_ranges.rank = devices.rank
LEFT JOIN activity_windows USING (source_id, device_id);
