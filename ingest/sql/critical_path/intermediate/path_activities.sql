-- Device activities during the steps.
-- One row: a kernel, copy or memset, cut at the ends of the step's time.
-- Materialised: a step in Python reads it.
--
-- `launch_id` is the call that launched the activity, or if that is unknown, the operator that did.
-- `launch_ns` is -1 if neither is known. `device` is -1 if it is unknown. `class` is 0 for
-- communication, 1 for compute and 2 for copies. `is_own` is 1 if the step launched the activity.
-- `kernel_label`, `op_label` and `module_label` represent the names by which the summary groups; 0
-- means that there is no name. `waited_ns` is how long a kernel of MegEngine waited for other comp
-- nodes; -1 for other activities.
SELECT
    path_steps.path,
    hash(kernels.device, kernels.stream) AS lane,
    coalesce(kernels.device, -1) AS device,
    kernels.event_id,
    greatest(kernels.start_ns, path_steps.start_ns) AS start_ns,
    least(kernels.start_ns + kernels.dur_ns, path_steps.end_ns) AS end_ns,
    coalesce(kernels.launch_id, kernels.op_id, -1) AS launch_id,
    coalesce(kernels.launch_ns, -1) AS launch_ns,
    CASE kernels.class WHEN 'communication' THEN 0 WHEN 'compute' THEN 1 ELSE 2 END AS class,
    (kernels.step IS NOT DISTINCT FROM path_steps.step)::TINYINT AS is_own,
    hash(kernels.name) AS kernel_label,
    if(kernels.op IS NULL, 0, hash(kernels.op)) AS op_label,
    if(ops.module IS NULL, 0, hash(ops.module)) AS module_label,
    coalesce(megengine_starts.wait_ns, -1) AS waited_ns
FROM kernels
INNER JOIN path_steps
    ON
        kernels.source_id = path_steps.source_id
        -- The last activity that a step launched may have length 0 and end with the step.
        AND (
            kernels.start_ns < path_steps.end_ns
            OR kernels.start_ns = path_steps.end_ns
            AND kernels.step IS NOT DISTINCT FROM path_steps.step
        )
        -- The first activity of a step may wait for the last one of the step before.
        AND kernels.start_ns + kernels.dur_ns >= path_steps.start_ns
LEFT JOIN ops ON kernels.op_id = ops.event_id
LEFT JOIN megengine_starts ON kernels.event_id = megengine_starts.event_id;
