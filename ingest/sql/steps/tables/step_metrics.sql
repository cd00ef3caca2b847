-- Metrics of each measured step. `step_parts` divides its time into parts.
-- One row: a step, on a device of an input file; without a device, on its host.
-- Start here: Which step is slower than the others?
-- Materialised: several relations read it, and its file is written from it.
--
-- run_id, source_id, rank, device_id, device
-- step             number of the step (`steps.step`); null for time between steps, and if no steps
--                  were found
-- is_median        whether the step has the median wall time of the device's steps (of the two
--                  middle steps, the shorter one), without the step that fills the pipeline; always
--                  true if no steps were found
-- start_ns         Unix time at which the host began the step, ns; null between steps
-- range_ns         length of the step on the host, ns: the profiler's range, or the call of the
--                  annotation or module; null between steps
-- lag_ns           time from the end of the range to the end of everything that the step launched,
--                  ns; null between steps
-- work_start_ns    Unix time at which the step's wall time begins, ns: the end of the step before,
--                  but not before `start_ns`; null between steps
-- work_end_ns      Unix time at which the step and everything that it launched had ended, ns; null
--                  between steps
-- wall_ns          wall time of the step, ns: on a device, from `work_start_ns` to `work_end_ns`;
--                  the sum of the step's parts
-- fill_ns          part of the wall time that fills the pipeline, ns: see `step_parts`; such a step
--                  is not compared with other steps
-- busy_ns          time in which the device was busy, or the host of a run without a device, ns
-- idle_ns          idle time, ns
-- exposed_communication_ns
-- exposed_copy_ns  copies while neither compute nor communication ran, ns; null for a host
-- bubbles          number of gaps; a gap counts in the step of the activity that ended it
-- activities       number of kernels, copies and memsets, or of operators of a host
-- kernels, launches
-- graph_launches   number of launch calls that launched a recorded graph; null if no launch was
--                  recorded
-- launch_call_ns   time that the host spent in the launch calls, ns; null if no launch was recorded
-- short_kernels    number of kernels outside of graphs that took less time than their launch call;
--                  null if no launch was recorded
-- peak_bytes       peak of memory in use on the device, or on the host of a run without a device,
--                  during the step, bytes; null if not recorded, and between steps
WITH
times AS (
    SELECT
        source_id,
        device_id,
        step,
        sum(ns)::BIGINT AS wall_ns,
        coalesce(sum(ns) FILTER (WHERE NOT is_idle), 0)::BIGINT AS busy_ns,
        coalesce(sum(ns) FILTER (WHERE is_idle), 0)::BIGINT AS idle_ns,
        coalesce(sum(ns) FILTER (WHERE part = 'fill'), 0)::BIGINT AS fill_ns
    FROM step_parts
    GROUP BY ALL
),

windows AS (
    SELECT source_id, device_id, step, end_ns, from_ns, until_ns FROM step_windows WHERE is_step
),

counts AS (
    SELECT
        source_id,
        device_id,
        step,
        count(*) AS activities,
        count(*) FILTER (WHERE is_kernel) AS kernels,
        count(*) FILTER (WHERE is_kernel AND NOT is_graph_launch AND dur_ns < launch_dur_ns)
            AS short_kernels
    FROM measured_activities
    GROUP BY ALL
),

-- A call can launch several kernels.
calls AS (
    SELECT
        source_id,
        device_id,
        step,
        launch_id,
        any_value(launch_dur_ns) AS dur_ns,
        bool_or(is_graph_launch) AS is_graph
    FROM measured_activities
    WHERE is_kernel AND launch_id IS NOT NULL
    GROUP BY ALL
),

launched AS (
    SELECT
        source_id,
        device_id,
        step,
        count(*) AS launches,
        count(*) FILTER (WHERE is_graph) AS graph_launches,
        sum(dur_ns)::BIGINT AS launch_call_ns
    FROM calls
    GROUP BY ALL
),

gaps AS (
    SELECT source_id, device_id, step, count(*) AS bubbles FROM measured_gaps GROUP BY ALL
),

exposed AS (
    SELECT
        source_id,
        device_id,
        step,
        sum(exposed_ns) FILTER (WHERE class = 'communication')::BIGINT AS communication_ns,
        sum(exposed_ns) FILTER (WHERE class = 'copy')::BIGINT AS copy_ns
    FROM exposed_activities
    GROUP BY ALL
),

-- The step can be null, so the measures are grouped instead of joined.
measures AS (
    SELECT
        source_id,
        device_id,
        step,
        any_value(COLUMNS(* EXCLUDE (source_id, device_id, step)))
    FROM (
        FROM times
        UNION ALL BY NAME
        FROM windows
        UNION ALL BY NAME
        FROM counts
        UNION ALL BY NAME
        FROM launched
        UNION ALL BY NAME
        FROM gaps
        UNION ALL BY NAME
        FROM exposed
    )
    GROUP BY source_id, device_id, step
    HAVING any_value(wall_ns) IS NOT NULL
),

launching AS (
    SELECT rank, count(launch_id) > 0 AS is_recorded FROM kernels GROUP BY rank
),

devices AS (
    SELECT rank, count(DISTINCT device_id) AS devices FROM work_windows GROUP BY rank
)

SELECT
    found.source_id,
    measured.rank,
    found.device_id,
    measured.device,
    found.step,
    steps.start_ns IS NOT NULL AND (
        steps.step IS NULL
        OR row_number() OVER by_wall
        = (count(*) FILTER (WHERE found.fill_ns = 0) OVER of_device + 1) // 2
    ) AS is_median,
    steps.start_ns,
    steps.dur_ns AS range_ns,
    coalesce(found.end_ns, steps.start_ns + steps.dur_ns) - steps.start_ns - steps.dur_ns
        AS lag_ns,
    coalesce(found.from_ns, steps.start_ns) AS work_start_ns,
    coalesce(found.until_ns, steps.start_ns + steps.dur_ns) AS work_end_ns,
    found.wall_ns,
    found.fill_ns,
    found.busy_ns,
    found.idle_ns,
    if(measured.measure = 'device', coalesce(found.communication_ns, 0), NULL)
        AS exposed_communication_ns,
    if(measured.measure = 'device', coalesce(found.copy_ns, 0), NULL) AS exposed_copy_ns,
    coalesce(found.bubbles, 0) AS bubbles,
    coalesce(found.activities, 0) AS activities,
    if(measured.measure = 'device', coalesce(found.kernels, 0), NULL) AS kernels,
    if(launching.is_recorded, coalesce(found.launches, 0), NULL) AS launches,
    if(launching.is_recorded, coalesce(found.graph_launches, 0), NULL) AS graph_launches,
    if(launching.is_recorded, coalesce(found.launch_call_ns, 0), NULL) AS launch_call_ns,
    if(launching.is_recorded, coalesce(found.short_kernels, 0), NULL) AS short_kernels,
    peaks.peak_bytes
FROM measures AS found
INNER JOIN work_windows AS measured
    ON found.source_id = measured.source_id AND found.device_id = measured.device_id
LEFT JOIN steps
    ON found.source_id = steps.source_id AND found.step IS NOT DISTINCT FROM steps.step
LEFT JOIN launching ON measured.rank = launching.rank
LEFT JOIN devices ON measured.rank = devices.rank
-- A profiler may number devices differently than PyTorch. If a rank has a single device in both,
-- match them regardless of their numbers.
LEFT JOIN step_peaks AS peaks
    ON
        steps.source_id = peaks.source_id
        AND steps.step IS NOT DISTINCT FROM peaks.step
        AND measured.measure = peaks.measure
        AND (
            found.device_id = peaks.device_id
            OR (devices.devices = 1 AND peaks.devices = 1)
        )
WINDOW
    of_device AS (PARTITION BY found.device_id, steps.start_ns IS NULL),
    by_wall AS (
        PARTITION BY found.device_id, steps.start_ns IS NULL
        ORDER BY found.fill_ns > 0, found.wall_ns, steps.start_ns, found.source_id
    )
ORDER BY found.source_id, measured.device, found.step;
