-- The median steps of several runs compared with one base run: `runs_against(base, others, rank :=
-- NULL)`, where `others` is a list of run ids. It uses the device with the longest wall time of
-- each run, or of `rank` if that is given.
-- One row: a run, including the base. There are no rows if the base is unknown or has no metrics.
--
-- run_id
-- is_base         whether this run is the base
-- rank            rank that was compared
-- device          device that was compared; null if the host is measured
-- measure
-- wall_ns         wall time of the median step, ns
-- change_ns       wall time minus the base's wall time, ns; null if a device would be compared with
--                 a host, or a step with a whole recording
-- change_percent  change of the wall time in percent of the base's wall time; null if `change_ns`
--                 is null
-- busy_ns         time in which the device or host is busy in the step, ns
-- busy_change_ns  busy time minus the base's busy time, ns; null if `change_ns` is null
-- idle_ns         idle time between the step's activities, ns
-- idle_change_ns  idle time minus the base's idle time, ns; null if `change_ns` is null
-- peak_bytes      peak of memory in use during the whole recording, bytes; null if not recorded
-- peak_change     peak minus the base's peak, bytes; null if a device would be compared with a
--                 host, or if a peak was not recorded
CREATE MACRO runs_against(base, others, rank := NULL) AS TABLE
    WITH
    steps AS (
        SELECT
            *,
            run_id = base AS is_base,
            steps_from = 'run' AS is_recording
        FROM run_metrics AS metrics
        WHERE
            run_id IN list_concat([base], others)
            AND is_compared(rank, metrics.rank, is_default, is_slowest_of_rank)
    ),

    paired AS (
        SELECT
            steps.*,
            steps.measure = base_step.measure AS is_same_measure,
            is_same_measure AND steps.is_recording = base_step.is_recording AS is_comparable,
            base_step.wall_ns AS base_wall_ns,
            base_step.busy_ns AS base_busy_ns,
            base_step.idle_ns AS base_idle_ns,
            base_step.peak_bytes AS base_peak_bytes
        FROM steps
        INNER JOIN steps AS base_step ON base_step.is_base
    )

    SELECT
        run_id,
        is_base,
        paired.rank,
        device,
        measure,
        wall_ns,
        if(is_comparable, wall_ns - base_wall_ns, NULL) AS change_ns,
        percent_change(if(is_comparable, wall_ns - base_wall_ns, NULL), base_wall_ns)
            AS change_percent,
        busy_ns,
        if(is_comparable, busy_ns - base_busy_ns, NULL) AS busy_change_ns,
        idle_ns,
        if(is_comparable, idle_ns - base_idle_ns, NULL) AS idle_change_ns,
        peak_bytes,
        if(is_same_measure, peak_bytes - base_peak_bytes, NULL) AS peak_change
    FROM paired
    ORDER BY wall_ns, run_id;
