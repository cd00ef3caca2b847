-- Kernels that took less time than the call that launched them, so that the host sets the pace, by
-- name. Those of the measured steps and outside of graphs, as totals.
-- One row: a kernel name on one device of one rank of a run.
--
-- run_id     the run
-- rank       rank of the process
-- device     number of the device
-- name       kernel name as recorded
-- calls      times that it took less than its launch
-- device_ns  time that these took, ns
-- idle_ns    idle time right before them, of cause `host` or `launch`, from the start of the
--            outermost operator that launched them, without one from the launch; ns
WITH short_calls AS (
    SELECT *
    FROM measured_kernels
    WHERE kind = 'kernel' AND NOT graph_launch AND dur_ns < launch_dur_ns
)

SELECT
    call.run_id,
    call.rank,
    call.device,
    call.name,
    count(*) AS calls,
    sum(call.inside_ns)::BIGINT AS device_ns,
    coalesce(sum(
        call.start_ns - greatest(gap.start_ns, coalesce(op.start_ns, call.launch_ns))
    ) FILTER (WHERE gap.cause IN ('host', 'launch')), 0)::BIGINT AS idle_ns
FROM short_calls AS call
LEFT JOIN measured_bubbles AS gap ON call.run_id = gap.run_id AND call.event_id = gap.after_id
LEFT JOIN ops AS op ON call.run_id = op.run_id AND call.top_op_id = op.event_id
GROUP BY call.run_id, call.rank, call.device, call.name;
