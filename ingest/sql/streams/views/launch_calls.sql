-- The calls that launched work on a device, and how long the work then waited. A graph launch is
-- one call, no matter how many kernels it launches.
-- One row: a call of CUDA, HIP or MTIA that launched activities on a device.
--
-- run_id, rank, device
-- launch_id        the launching call (`events.event_id`)
-- api
-- start_ns         Unix time at which the call began, ns
-- dur_ns           time that the host spent in the call, ns
-- is_graph_launch  whether the call launches a recorded graph
-- activities       number of kernels, copies and memsets that the call launched
-- device_ns        sum of the durations of `activities`, ns
-- delay_ns         time from the end of the call to the start of its first activity, ns; 0 if the
--                  activity began before the call ended
-- kernel_id        the first activity that the call launched (`kernels.event_id`)
-- kernel           name of the first activity
-- op_id            innermost cpu_op around the call (`ops.event_id`)
-- op               name of the innermost cpu_op around the call
-- step             step in which the activities were launched (`steps.step`)
WITH launched AS (
    SELECT
        run_id,
        rank,
        device,
        launch_id,
        any_value(launch_ns) AS start_ns,
        any_value(launch_dur_ns) AS dur_ns,
        any_value(is_graph_launch) AS is_graph_launch,
        count(*) AS activities,
        sum(dur_ns)::BIGINT AS device_ns,
        min((start_ns, event_id, name)) AS first,
        any_value(op_id) AS op_id,
        any_value(op) AS op,
        any_value(step) AS step
    FROM kernels
    WHERE launch_id IS NOT NULL
    GROUP BY run_id, rank, device, launch_id
)

SELECT
    launched.run_id,
    launched.rank,
    launched.device,
    launched.launch_id,
    call.name AS api,
    launched.start_ns,
    launched.dur_ns,
    launched.is_graph_launch,
    launched.activities,
    launched.device_ns,
    greatest(0, launched.first[1] - launched.start_ns - launched.dur_ns) AS delay_ns,
    launched.first[2] AS kernel_id,
    launched.first[3] AS kernel,
    launched.op_id,
    launched.op,
    launched.step
FROM launched
INNER JOIN events AS call
    ON launched.run_id = call.run_id AND launched.launch_id = call.event_id
WHERE call.category IN ('cuda_runtime', 'cuda_driver');
