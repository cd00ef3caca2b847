-- How long each operator took to launch work, and how long the work waited to begin.
-- One row: an operator that is the innermost cpu_op around at least one launch.
--
-- run_id, rank, device
-- op_id                the operator (`ops.event_id`)
-- name                 name of the operator
-- step                 step of the operator (`steps.step`)
-- start_ns             Unix time at which the operator began, ns
-- dur_ns               duration of the operator on the host, ns
-- launches             number of launching calls
-- activities           number of kernels, copies and memsets that the operator launched
-- device_ns            sum of the durations of `activities`, ns
-- op_to_launch_ns      time from the start of the operator to its first launch, ns
-- launch_to_kernel_ns  time from the start of the first launch to the start of its first activity,
--                      ns
-- op_to_kernel_ns      time from the start of the operator to the start of the first activity of
--                      its first launch, ns
-- kernel_id            the first activity of the first launch (`kernels.event_id`)
-- kernel               name of the first activity of the first launch
WITH firsts AS (
    SELECT
        run_id,
        rank,
        device,
        op_id,
        count(DISTINCT launch_id) AS launches,
        count(*) AS activities,
        sum(dur_ns)::BIGINT AS device_ns,
        min((launch_ns, start_ns, event_id, name)) AS first
    FROM kernels
    WHERE op_id IS NOT NULL AND launch_id IS NOT NULL
    GROUP BY run_id, rank, device, op_id
)

SELECT
    firsts.run_id,
    firsts.rank,
    firsts.device,
    firsts.op_id,
    op.name,
    op.step,
    op.start_ns,
    op.dur_ns,
    firsts.launches,
    firsts.activities,
    firsts.device_ns,
    firsts.first[1] - op.start_ns AS op_to_launch_ns,
    firsts.first[2] - firsts.first[1] AS launch_to_kernel_ns,
    firsts.first[2] - op.start_ns AS op_to_kernel_ns,
    firsts.first[3] AS kernel_id,
    firsts.first[4] AS kernel
FROM firsts
INNER JOIN ops AS op ON firsts.run_id = op.run_id AND firsts.op_id = op.event_id;
