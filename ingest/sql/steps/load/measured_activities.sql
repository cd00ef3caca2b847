-- Device activities in the measured window of their device, or a host's operators in its window.
-- One row: an activity that is at least partly in the window.
-- Materialised: several relations read it.
--
-- `inside_ns` is its time in the window. `covered_ns` is the part of that time in which no activity
-- that began earlier still ran. The sum of `covered_ns` is the time in which the device was busy.
SELECT
    activity.source_id,
    activity.device,
    measured.measure,
    activity.step,
    activity.class,
    activity.is_kernel,
    activity.launch_id,
    activity.launch_dur_ns,
    activity.is_graph_launch,
    activity.end_ns - activity.start_ns AS dur_ns,
    least(activity.end_ns, measured.end_ns) - greatest(activity.start_ns, measured.start_ns)
        AS inside_ns,
    greatest(
        least(activity.end_ns, measured.end_ns)
        - greatest(activity.start_ns, measured.start_ns, activity.reached_ns),
        0
    ) AS covered_ns
FROM activity_steps AS activity
INNER JOIN work_windows AS measured
    ON
        activity.source_id = measured.source_id
        AND activity.device IS NOT DISTINCT FROM measured.device
WHERE
    activity.class IS NOT NULL
    AND (inside_ns > 0 OR (inside_ns = 0 AND activity.end_ns = activity.start_ns));
