-- Device activities, or in a run without a device the activities of its host, with their steps.
-- One row: a device activity, or a row of `host_activities`.
-- Materialised: several relations read it.
--
-- `is_measured` is true in a step; in a run without steps, it is always true. `reached_ns` is the
-- latest end of the activities on the device that began earlier.
WITH
activities AS (
    SELECT
        source_id,
        rank,
        device_id,
        event_id,
        start_ns,
        start_ns + dur_ns AS end_ns,
        class,
        kind = 'kernel' AS is_kernel,
        launch_id,
        launch_dur_ns,
        is_graph_launch,
        step
    FROM kernels
    UNION ALL BY NAME
    SELECT
        activity.source_id,
        activity.rank,
        activity.device_id,
        activity.event_id,
        activity.start_ns,
        activity.start_ns + activity.dur_ns AS end_ns,
        if(activity.kind = 'operator', 'compute', NULL) AS class,
        nullif(host_nest.step, -1) AS step
    FROM host_activities AS activity
    LEFT JOIN host_nest ON activity.event_id = host_nest.event_id
)

SELECT
    activities.*,
    max(end_ns) OVER (
        PARTITION BY source_id, device_id ORDER BY start_ns, event_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns,
    step IS NOT NULL
    OR source_id IN (SELECT whole.source_id FROM steps AS whole WHERE whole.steps_from = 'run')
        AS is_measured
FROM activities;
