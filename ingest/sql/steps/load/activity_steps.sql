-- Device activities, or in a run without a device what its host did, with their measured steps.
-- One row: a device activity, or a row of `host_activities`.
-- Materialised: several relations read it.
--
-- An activity has the innermost step around its launch; without a launch, around its start.
-- `is_measured` is true inside of a step, and everywhere where the whole recording is measured.
-- `reached_ns` is the latest end of the activities that began before it on the device.
WITH
activities AS (
    SELECT
        source_id,
        rank,
        device,
        event_id,
        start_ns,
        start_ns + dur_ns AS end_ns,
        coalesce(launch_ns, start_ns) AS asked_ns,
        class,
        kind = 'kernel' AS is_kernel,
        launch_id,
        launch_dur_ns,
        graph_launch
    FROM kernels
    UNION ALL BY NAME
    SELECT
        source_id,
        rank,
        device,
        event_id,
        start_ns,
        start_ns + dur_ns AS end_ns,
        start_ns AS asked_ns,
        if(kind = 'operator', 'compute', NULL) AS class
    FROM host_activities
)

SELECT
    activity.*,
    max(activity.end_ns) OVER (
        PARTITION BY activity.source_id, activity.device ORDER BY activity.start_ns, event_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns,
    moment.step,
    coalesce(moment.inside, FALSE)
    OR activity.source_id IN (
        SELECT whole.source_id FROM measured_steps AS whole WHERE whole.steps_from = 'run'
    ) AS is_measured
FROM activities AS activity
ASOF LEFT JOIN step_moments('measured_steps') AS moment
    ON activity.source_id = moment.source_id AND activity.asked_ns >= moment.from_ns;
