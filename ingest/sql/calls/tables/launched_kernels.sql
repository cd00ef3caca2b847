-- Device activities under the calls that launched them: the leaves of flame graphs.
-- One row: all activities with the same name and launching calls, on one thread in one step.
--
-- run_id, source_id, rank
-- pid         process that launched the activities; null without a launch
-- tid         thread that launched the activities; null without a launch
-- step        step of the activities, as in `kernels.step`
-- path_id     innermost call around the launching call, or the launching call itself if it is
--             outermost (`call_tree.path_id`); null without a launch
-- module_id   innermost nn.Module around the launch (`module_tree.module_id`), or inside that one
--             around the call that a CUDA graph recorded; null outside modules
-- name        name of the activities, as in `kernels`
-- activities  number of activities
-- device_ns   sum of the durations of the activities, ns
-- idle_ns     idle time of the device directly before the activities, ns
WITH
launching AS (
    SELECT
        kernels.source_id,
        kernels.rank,
        kernels.event_id,
        kernels.step,
        kernels.name,
        kernels.dur_ns,
        kernels.graph_module_id,
        gaps.to_ns - gaps.from_ns AS idle_ns,
        kernels.launch_id IS NULL AS is_by_op,
        coalesce(kernels.launch_id, kernels.op_id) AS host_id
    FROM kernels
    LEFT JOIN gaps ON kernels.event_id = gaps.after_kernel_id AND NOT gaps.is_outside
),

-- The smaller relation is on the right: DuckDB builds the hash table from that side.
callers AS (
    SELECT
        launching.event_id,
        nest.lane,
        CASE
            WHEN launching.is_by_op OR nest.caller_path_id = 0 THEN nest.path_id
            ELSE nest.caller_path_id
        END AS path_id,
        nest.module_id
    FROM host_nest AS nest
    INNER JOIN launching ON nest.event_id = launching.host_id
),

lanes AS (
    SELECT lane, any_value(pid) AS pid, any_value(tid) AS tid
    FROM complete
    WHERE side = 'host'
    GROUP BY lane
)

SELECT
    launching.source_id,
    launching.rank,
    lanes.pid,
    lanes.tid,
    launching.step,
    callers.path_id,
    -- The recorded module counts if it is inside the one around the launch.
    CASE
        WHEN
            callers.module_id <> 0
            AND list_contains(recorded.around, callers.module_id) IS NOT TRUE
            THEN callers.module_id
        ELSE recorded.module_id
    END AS module_id,
    launching.name,
    count(*) AS activities,
    sum(launching.dur_ns)::BIGINT AS device_ns,
    coalesce(sum(launching.idle_ns), 0)::BIGINT AS idle_ns
FROM launching
LEFT JOIN callers ON launching.event_id = callers.event_id
LEFT JOIN lanes ON callers.lane = lanes.lane
LEFT JOIN module_tree AS recorded ON launching.graph_module_id = recorded.module_id
GROUP BY ALL;
