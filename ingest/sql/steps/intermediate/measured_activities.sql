-- Device activities in the measured window of their device, or a host's operators in its window.
-- One row: an activity that is at least partly in the window.
-- Materialised: several relations read it.
--
-- The times are those in the window. `dur_ns` is the length of the whole activity.
SELECT
    activity.source_id,
    activity.device_id,
    measured.measure,
    activity.event_id,
    activity.step,
    activity.class,
    activity.is_kernel,
    activity.launch_id,
    activity.launch_dur_ns,
    activity.is_graph_launch,
    activity.end_ns - activity.start_ns AS dur_ns,
    activity.reached_ns,
    greatest(activity.start_ns, measured.start_ns) AS start_ns,
    least(activity.end_ns, measured.end_ns) AS end_ns
FROM activity_steps AS activity
INNER JOIN work_windows AS measured
    ON
        activity.source_id = measured.source_id
        AND activity.device_id = measured.device_id
WHERE
    activity.class IS NOT NULL
    AND (
        least(activity.end_ns, measured.end_ns) > greatest(activity.start_ns, measured.start_ns)
        OR (
            activity.end_ns = activity.start_ns
            AND activity.start_ns BETWEEN measured.start_ns AND measured.end_ns
        )
    );
