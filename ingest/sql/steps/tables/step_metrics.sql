-- Metrics of each measured step. `step_parts` divides its time into parts.
-- One row: a step, on a device of an input file; without a device, on its host.
-- Start here: Which step is slower than the others?
-- Materialised: several relations read it, and its file is written from it.
--
-- run_id, source_id, rank, device
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
-- kernels          number of kernels; null for a host
-- launches
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
        rank,
        device,
        step,
        sum(ns)::BIGINT AS wall_ns,
        coalesce(sum(ns) FILTER (WHERE NOT is_idle), 0)::BIGINT AS busy_ns,
        coalesce(sum(ns) FILTER (WHERE is_idle), 0)::BIGINT AS idle_ns,
        coalesce(sum(ns) FILTER (WHERE part = 'fill'), 0)::BIGINT AS fill_ns
    FROM step_parts
    GROUP BY source_id, rank, device, step
),

counts AS (
    SELECT
        source_id,
        device,
        step,
        count(*) AS activities,
        count(*) FILTER (WHERE is_kernel) AS kernels,
        count(*) FILTER (WHERE is_kernel AND NOT is_graph_launch AND dur_ns < launch_dur_ns)
            AS short_kernels
    FROM measured_activities
    GROUP BY source_id, device, step
),

-- A call can launch several kernels.
calls AS (
    SELECT
        source_id,
        device,
        step,
        any_value(launch_dur_ns) AS dur_ns,
        bool_or(is_graph_launch) AS is_graph
    FROM measured_activities
    WHERE is_kernel AND launch_id IS NOT NULL
    GROUP BY source_id, device, step, launch_id
),

launched AS (
    SELECT
        source_id,
        device,
        step,
        count(*) AS launches,
        count(*) FILTER (WHERE is_graph) AS graph_launches,
        sum(dur_ns)::BIGINT AS launch_call_ns
    FROM calls
    GROUP BY source_id, device, step
),

gaps AS (
    SELECT source_id, device, step, count(*) AS bubbles
    FROM measured_gaps
    GROUP BY source_id, device, step
),

exposed AS (
    SELECT
        source_id,
        device,
        step,
        sum(exposed_ns) FILTER (WHERE class = 'communication')::BIGINT AS communication_ns,
        sum(exposed_ns) FILTER (WHERE class = 'copy')::BIGINT AS copy_ns
    FROM exposed_activities
    GROUP BY source_id, device, step
),

launching AS (
    SELECT rank, count(launch_id) > 0 AS is_recorded FROM kernels GROUP BY rank
),

devices AS (
    SELECT rank, count(DISTINCT coalesce(device, -1)) AS devices
    FROM work_windows
    GROUP BY rank
)

SELECT
    times.source_id,
    times.rank,
    times.device,
    times.step,
    steps.start_ns IS NOT NULL AND (
        steps.step IS NULL
        OR row_number() OVER by_wall
        = (count(*) FILTER (WHERE times.fill_ns = 0) OVER of_device + 1) // 2
    ) AS is_median,
    steps.start_ns,
    steps.dur_ns AS range_ns,
    coalesce(windows.end_ns, steps.start_ns + steps.dur_ns) - steps.start_ns - steps.dur_ns
        AS lag_ns,
    coalesce(windows.from_ns, steps.start_ns) AS work_start_ns,
    coalesce(windows.until_ns, steps.start_ns + steps.dur_ns) AS work_end_ns,
    times.wall_ns,
    times.fill_ns,
    times.busy_ns,
    times.idle_ns,
    if(measured.measure = 'device', coalesce(exposed.communication_ns, 0), NULL)
        AS exposed_communication_ns,
    if(measured.measure = 'device', coalesce(exposed.copy_ns, 0), NULL) AS exposed_copy_ns,
    coalesce(gaps.bubbles, 0) AS bubbles,
    coalesce(counts.activities, 0) AS activities,
    if(measured.measure = 'device', coalesce(counts.kernels, 0), NULL) AS kernels,
    if(launching.is_recorded, coalesce(launched.launches, 0), NULL) AS launches,
    if(launching.is_recorded, coalesce(launched.graph_launches, 0), NULL) AS graph_launches,
    if(launching.is_recorded, coalesce(launched.launch_call_ns, 0), NULL) AS launch_call_ns,
    if(launching.is_recorded, coalesce(counts.short_kernels, 0), NULL) AS short_kernels,
    peaks.peak_bytes
FROM times
INNER JOIN work_windows AS measured
    ON
        times.source_id = measured.source_id
        AND times.device IS NOT DISTINCT FROM measured.device
LEFT JOIN steps
    ON times.source_id = steps.source_id AND times.step IS NOT DISTINCT FROM steps.step
LEFT JOIN counts
    ON
        times.source_id = counts.source_id
        AND times.device IS NOT DISTINCT FROM counts.device
        AND times.step IS NOT DISTINCT FROM counts.step
LEFT JOIN launched
    ON
        times.source_id = launched.source_id
        AND times.device IS NOT DISTINCT FROM launched.device
        AND times.step IS NOT DISTINCT FROM launched.step
LEFT JOIN step_windows AS windows
    ON
        windows.is_step
        AND times.source_id = windows.source_id
        AND times.device IS NOT DISTINCT FROM windows.device
        AND times.step IS NOT DISTINCT FROM windows.step
LEFT JOIN gaps
    ON
        times.source_id = gaps.source_id
        AND times.device IS NOT DISTINCT FROM gaps.device
        AND times.step IS NOT DISTINCT FROM gaps.step
LEFT JOIN exposed
    ON
        times.source_id = exposed.source_id
        AND times.device IS NOT DISTINCT FROM exposed.device
        AND times.step IS NOT DISTINCT FROM exposed.step
LEFT JOIN launching ON times.rank = launching.rank
LEFT JOIN devices ON times.rank = devices.rank
-- A profiler may number devices differently than PyTorch. If a rank has a single device in both,
-- match them regardless of their numbers.
LEFT JOIN step_peaks AS peaks
    ON
        steps.source_id = peaks.source_id
        AND steps.step IS NOT DISTINCT FROM peaks.step
        AND measured.measure = peaks.measure
        AND (
            times.device IS NOT DISTINCT FROM peaks.device
            OR (devices.devices = 1 AND peaks.devices = 1)
        )
WINDOW
    of_device AS (PARTITION BY times.rank, times.device, steps.start_ns IS NULL),
    by_wall AS (
        PARTITION BY times.rank, times.device, steps.start_ns IS NULL
        ORDER BY times.fill_ns > 0, times.wall_ns, steps.start_ns, times.source_id
    )
ORDER BY times.source_id, times.device, times.step;
