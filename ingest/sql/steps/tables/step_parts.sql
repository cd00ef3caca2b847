-- The parts that make up the time of each step. The parts of a step add up to its wall time, and
-- those of all steps to the wall time of the run.
-- One row: a part of a step, on a device of an input file; without a device, on its host. Each step
-- has all parts; time between steps has only those that occur.
-- Materialised: several relations read it, and its file is written from it.
--
-- An activity belongs to the step around its launch. Idle time belongs to the step of the activity
-- that ended it, but only from the start of that step. Earlier idle time, and time after the last
-- activity, belongs to the step in which the host was. The host's time belongs to the step in which
-- it passed.
--
-- run_id     the run
-- source_id  the input file
-- rank       rank of the process
-- device     number of the device; null if the host is measured
-- step       number of the step (`steps.step`); null for time between steps, and if no steps were
--            found
-- part       `lead`, `tail`, `compute`, `communication`, `copy`, `compiled_code`, `overlap`, or a
--            cause of idle time, as in `parts`
-- is_idle    whether the device, or the host of a run without a device, was idle; null for `lead`
--            and `tail`
-- ordinal    display order of the parts, from 1
-- ns         time of the part, ns; negative for an overlap, so that the parts add up
WITH
first_activities AS (
    SELECT source_id, device, arg_min(step, (start_ns, event_id)) AS step
    FROM activity_steps
    WHERE is_measured
    GROUP BY source_id, device
),

idle AS (
    SELECT
        source_id,
        device,
        cause AS part,
        start_ns,
        start_ns + dur_ns AS end_ns,
        step
    FROM measured_gaps
    WHERE cause IS NOT NULL
    UNION ALL
    SELECT
        measured.source_id,
        measured.device,
        'lead' AS part,
        measured.wall_start_ns AS start_ns,
        measured.start_ns AS end_ns,
        first_activities.step
    FROM work_windows AS measured
    LEFT JOIN first_activities
        ON
            measured.source_id = first_activities.source_id
            AND measured.device IS NOT DISTINCT FROM first_activities.device
    WHERE measured.measure = 'device'
    UNION ALL
    SELECT
        source_id,
        device,
        'tail' AS part,
        end_ns AS start_ns,
        wall_end_ns AS end_ns,
        NULL AS step
    FROM work_windows
    WHERE measure = 'device'
),

-- Idle time from `own_ns` belongs to `step`. Without a step, `own_ns` is the end of the idle time,
-- because `least` ignores null.
owned AS (
    SELECT
        idle.*,
        greatest(idle.start_ns, least(idle.end_ns, steps.start_ns)) AS own_ns
    FROM idle
    LEFT JOIN steps ON idle.source_id = steps.source_id AND idle.step = steps.step
),

-- Every part of every step, so that a part without time is 0 and not missing.
zeros AS (
    SELECT measured.source_id, measured.device, steps.step, listed.part, 0 AS ns
    FROM work_windows AS measured
    INNER JOIN steps ON measured.source_id = steps.source_id
    INNER JOIN step_part_list AS listed
        ON if(measured.measure = 'device', listed.is_of_device, listed.is_of_host)
),

found AS (
    SELECT source_id, device, step, class AS part, inside_ns AS ns
    FROM measured_activities
    WHERE measure = 'device'
    UNION ALL
    SELECT source_id, device, step, 'overlap' AS part, covered_ns - inside_ns AS ns
    FROM measured_activities
    WHERE measure = 'device'
    UNION ALL
    SELECT source_id, device, step, part, end_ns - own_ns AS ns
    FROM owned
    WHERE end_ns > own_ns
    UNION ALL
    SELECT
        owned.source_id,
        owned.device,
        stretch.step,
        owned.part,
        least(owned.own_ns, stretch.end_ns) - greatest(owned.start_ns, stretch.start_ns) AS ns
    FROM owned
    INNER JOIN step_stretches AS stretch
        ON
            owned.source_id = stretch.source_id
            AND owned.start_ns < stretch.end_ns
            AND owned.own_ns > stretch.start_ns
    WHERE owned.own_ns > owned.start_ns
    UNION ALL
    SELECT
        source_id,
        NULL AS device,
        step,
        part,
        if(part = 'compute', operators, 1) * dur_ns AS ns
    FROM host_stretches
    UNION ALL
    SELECT source_id, NULL AS device, step, 'overlap' AS part, (1 - operators) * dur_ns AS ns
    FROM host_stretches
    WHERE part = 'compute'
    UNION ALL
    FROM zeros
)

SELECT
    found.source_id,
    sources.rank,
    found.device,
    found.step,
    found.part,
    listed.is_idle,
    listed.ordinal,
    sum(found.ns)::BIGINT AS ns
FROM found
INNER JOIN staged_sources AS sources ON found.source_id = sources.source_id
INNER JOIN step_part_list AS listed ON found.part = listed.part
GROUP BY
    found.source_id,
    sources.rank,
    found.device,
    found.step,
    found.part,
    listed.is_idle,
    listed.ordinal
ORDER BY found.source_id, found.device, found.step, listed.ordinal;
