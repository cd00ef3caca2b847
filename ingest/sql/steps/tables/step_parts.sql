-- The parts that make up the time of each step. The parts of a step add up to its wall time, and
-- those of all steps to the wall time of the run.
-- One row: a part of a step, on a device of an input file; without a device, on its host. Each step
-- has all parts; time between steps has only those that occur.
-- Materialised: several relations read it, and its file is written from it.
--
-- A step's time on a device ends when the host has ended the step and the device has ended what the
-- step launched. It begins at the end of the step before, but not before the host begins the step.
-- Everything in that time belongs to the step. In a run without a device, the host's time belongs
-- to the step in which it passed.
--
-- The first step of a recording also fills the pipeline. In a later step, while the host is in the
-- next step, the device still does the work of the step before; the first step has no step before,
-- so idle time of the same length at its start is `fill`.
--
-- run_id, source_id, rank, device_id, device
-- step     number of the step (`steps.step`); null for time between steps, and if no steps were
--          found
-- part     `fill`, `compute`, `communication`, `copy`, `compiled_code`, `overlap`, or a cause of
--          idle time, as in `parts`
-- is_idle  whether the device, or the host of a run without a device, was idle; null for `fill`
-- ordinal  display order of the parts, from 1
-- ns       time of the part, ns; negative for an overlap, so that the parts add up
WITH
idle_gaps AS (
    FROM measured_gaps WHERE cause IS NOT NULL
),

working_steps AS (
    SELECT
        *,
        lead(start_ns) OVER in_time AS next_start_ns,
        greatest(range_end_ns, next_start_ns) AS lag_from_ns,
        row_number() OVER in_time AS ordinal
    FROM step_windows
    WHERE is_step AND until_ns > from_ns
    WINDOW in_time AS (PARTITION BY source_id, device_id ORDER BY from_ns)
),

-- The device does the work of the first step until `until_ns`, while the host is in the next step.
fills AS (
    SELECT source_id, device_id, step, from_ns + until_ns - lag_from_ns AS end_ns
    FROM working_steps
    WHERE ordinal = 1 AND is_active AND next_start_ns IS NOT NULL AND until_ns > lag_from_ns
),

idle AS (
    SELECT
        gap.source_id,
        gap.device_id,
        gap.in_step AS step,
        gap.cause,
        gap.end_ns - gap.start_ns AS ns,
        if(
            fills.end_ns > gap.start_ns, least(gap.end_ns, fills.end_ns) - gap.start_ns, 0
        ) AS fill_ns
    FROM cut_at_steps('idle_gaps') AS gap
    LEFT JOIN fills
        ON
            gap.source_id = fills.source_id
            AND gap.device_id = fills.device_id
            AND gap.in_step = fills.step
),

-- Every part of every step, so that a part without time is 0 and not missing.
zeros AS (
    SELECT measured.source_id, measured.device_id, steps.step, listed.part, 0 AS ns
    FROM work_windows AS measured
    INNER JOIN steps ON measured.source_id = steps.source_id
    INNER JOIN step_part_list AS listed
        ON if(measured.measure = 'device', listed.is_of_device, listed.is_of_host)
),

-- Activities and gaps that no step launched count even if they ran only in the time of steps.
outside AS (
    SELECT DISTINCT source_id, device_id, class AS part
    FROM measured_activities
    WHERE measure = 'device' AND step IS NULL
    UNION
    SELECT DISTINCT source_id, device_id, cause AS part
    FROM idle_gaps
    WHERE step IS NULL
),

found AS (
    SELECT source_id, device_id, NULL AS step, part, 0 AS ns
    FROM outside
    UNION ALL
    SELECT source_id, device_id, step, class AS part, inside_ns AS ns
    FROM step_activities
    UNION ALL
    SELECT source_id, device_id, step, 'overlap' AS part, covered_ns - inside_ns AS ns
    FROM step_activities
    UNION ALL
    SELECT source_id, device_id, step, cause AS part, ns - fill_ns AS ns
    FROM idle
    UNION ALL
    SELECT source_id, device_id, step, 'fill' AS part, fill_ns AS ns
    FROM idle
    WHERE fill_ns > 0
    UNION ALL
    SELECT
        source_id,
        device_id,
        step,
        part,
        if(part = 'compute', operators, 1) * dur_ns AS ns
    FROM host_stretches
    UNION ALL
    SELECT source_id, device_id, step, 'overlap' AS part, (1 - operators) * dur_ns AS ns
    FROM host_stretches
    WHERE part = 'compute'
    UNION ALL
    FROM zeros
)

SELECT
    found.source_id,
    devices.rank,
    found.device_id,
    devices.device,
    found.step,
    found.part,
    listed.is_idle,
    listed.ordinal,
    sum(found.ns)::BIGINT AS ns
FROM found
INNER JOIN work_devices AS devices USING (device_id)
INNER JOIN step_part_list AS listed USING (part)
GROUP BY ALL
ORDER BY found.source_id, devices.device, found.step, listed.ordinal;
