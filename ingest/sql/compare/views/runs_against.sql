-- The median steps of several runs against that of one: `runs_against(base, others, rank := NULL)`,
-- where `others` is a list of run ids. Of each run the device with the longest wall time counts;
-- with a rank, that of the rank.
-- One row: a run, the base among them. No rows where the base is unknown or has no metrics.
--
-- run_id            the run
-- is_base           whether it is the base
-- rank              rank that was taken
-- device            its device; null where the host is measured
-- measure           device, or host in a run without device activities
-- wall_ns           wall time of the median step, ns
-- change_ns         that less the base's, ns; null where a device stands against a host, or a
--                   step against a whole recording
-- change_percent    the same, in percent of the base's wall time
-- busy_ns           time that the device or the host is busy in the step, ns
-- busy_change_ns    that less the base's, ns; null as change_ns is
-- bubble_ns         idle time between the step's activities, ns
-- bubble_change_ns  that less the base's, ns; null as change_ns is
-- peak_bytes        the most memory in use in the whole recording, bytes; null where not recorded
-- peak_change       that less the base's, bytes; null where a device stands against a host, or
--                   where one was not recorded
CREATE MACRO runs_against(base, others, rank := NULL) AS TABLE
    WITH
    steps AS (
        SELECT
            *,
            run_id = base AS is_base,
            steps_from = 'run' AS is_whole
        FROM run_metrics AS metrics
        WHERE
            run_id IN list_concat([base], others)
            AND is_compared(rank, metrics.rank, is_slowest, is_slowest_of_rank)
    ),

    against AS (
        SELECT
            steps.*,
            steps.measure = base_step.measure AS is_same_measure,
            is_same_measure AND steps.is_whole = base_step.is_whole AS is_alike,
            base_step.wall_ns AS base_wall_ns,
            base_step.busy_ns AS base_busy_ns,
            base_step.bubble_ns AS base_bubble_ns,
            base_step.peak_bytes AS base_peak_bytes
        FROM steps
        INNER JOIN steps AS base_step ON base_step.is_base
    )

    SELECT
        run_id,
        is_base,
        against.rank,
        device,
        measure,
        wall_ns,
        if(is_alike, wall_ns - base_wall_ns, NULL) AS change_ns,
        percent_change(if(is_alike, wall_ns - base_wall_ns, NULL), base_wall_ns) AS change_percent,
        busy_ns,
        if(is_alike, busy_ns - base_busy_ns, NULL) AS busy_change_ns,
        bubble_ns,
        if(is_alike, bubble_ns - base_bubble_ns, NULL) AS bubble_change_ns,
        peak_bytes,
        if(is_same_measure, peak_bytes - base_peak_bytes, NULL) AS peak_change
    FROM against
    ORDER BY wall_ns, run_id;
