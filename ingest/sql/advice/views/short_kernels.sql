-- Kernels in the measured steps, outside of graphs, that took less time than the call that launched
-- them, so that the host sets the pace. They are grouped by name.
-- One row: a kernel name in a step of one device of one rank of a run.
-- Stored: most runs have no such rows, so queries skip them.
--
-- run_id, device_id, rank, device
-- step            step that launched the kernels (`steps.step`)
-- is_median
-- name            name of the kernel, as recorded
-- calls           number of times that the kernel took less time than its launch call
-- device_ns       time of the short kernels, ns
-- launch_idle_ns  idle time of cause `launch` right before the short kernels, ns; in `advice` it
--                 counts in `small_kernels`
-- host_idle_ns    idle time of cause `host` right before the short kernels, from the start of the
--                 outermost operator that launched them, or without an operator from the launch,
--                 ns; in `advice` it counts in `host_bound`
WITH
short_calls AS (
    SELECT *
    FROM measured_kernels
    WHERE kind = 'kernel' AND NOT is_graph_launch AND dur_ns < launch_dur_ns
),

calls AS (
    SELECT
        call.run_id,
        call.device_id,
        call.rank,
        call.device,
        call.step,
        call.is_median,
        call.name,
        call.inside_ns,
        gap.cause,
        call.start_ns - greatest(gap.start_ns, coalesce(op.start_ns, call.launch_ns)) AS idle_ns
    FROM short_calls AS call
    LEFT JOIN
        measured_bubbles AS gap
        ON call.run_id = gap.run_id AND call.event_id = gap.after_kernel_id
    LEFT JOIN ops AS op ON call.run_id = op.run_id AND call.top_op_id = op.event_id
)

SELECT
    run_id,
    device_id,
    rank,
    device,
    step,
    is_median,
    name,
    count(*) AS calls,
    sum(inside_ns)::BIGINT AS device_ns,
    coalesce(sum(idle_ns) FILTER (WHERE cause = 'launch'), 0)::BIGINT AS launch_idle_ns,
    coalesce(sum(idle_ns) FILTER (WHERE cause = 'host'), 0)::BIGINT AS host_idle_ns
FROM calls
GROUP BY ALL;
