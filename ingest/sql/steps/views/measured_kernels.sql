-- The device activities that count in `run_totals`: those of the measured steps.
-- One row: a kernel, copy or memset, as in `kernels`.
--
-- run_id, device_id, rank, device
-- event_id         the activity (`kernels.event_id`)
-- name             kernel name as recorded, or the copy's description
-- kind             kernel, memcpy or memset
-- class
-- start_ns         Unix time at which the activity began, ns
-- dur_ns           length of the activity, ns
-- inside_ns        length of the activity within the measured window, ns
-- launch_ns, launch_dur_ns
-- is_graph_launch  whether a graph launch owns the activity
-- op_id, top_op_id
-- step             step that launched the activity (`steps.step`)
-- is_median        whether the activity belongs to the device's median step; always true if no
--                  steps were found
SELECT
    kernels.run_id,
    kernels.device_id,
    kernels.rank,
    kernels.device,
    kernels.event_id,
    kernels.name,
    kernels.kind,
    kernels.class,
    kernels.start_ns,
    kernels.dur_ns,
    least(kernels.start_ns + kernels.dur_ns, measured.end_ns)
    - greatest(kernels.start_ns, measured.start_ns) AS inside_ns,
    kernels.launch_ns,
    kernels.launch_dur_ns,
    kernels.is_graph_launch,
    kernels.op_id,
    kernels.top_op_id,
    kernels.step,
    is_median_step(measured.steps_from, measured.median_step, kernels.step) AS is_median
FROM kernels
INNER JOIN measured_windows AS measured
    ON
        kernels.run_id = measured.run_id
        AND kernels.source_id = measured.source_id
        AND kernels.device_id = measured.device_id
        AND (
            (
                kernels.start_ns < measured.end_ns
                AND kernels.start_ns + kernels.dur_ns > measured.start_ns
            )
            OR (
                kernels.dur_ns = 0
                AND kernels.start_ns BETWEEN measured.start_ns AND measured.end_ns
            )
        );
