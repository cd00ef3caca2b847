-- Device activities by the calls that launched them: the leaves of flame graphs.
-- One row: the activities of one name that were launched in the same calls, on a thread in a step.
--
-- run_id      the run
-- source_id   the input file
-- rank        rank of the process
-- pid         process that launched them; null without a launch
-- tid         thread that launched them; null without a launch
-- step        as in `kernels.step`
-- path_id     the innermost call around their launch, which itself counts where there is none
--             (`call_tree.path_id`); null without a launch
-- module_id   innermost module around their launch (`module_tree.module_id`); null in none
-- name        name of the activities, as in `kernels`
-- activities  number of activities
-- device_ns   sum of their durations, ns
-- idle_ns     idle time of the device that they ended, ns
WITH
launching AS (
    SELECT
        kernels.source_id,
        kernels.rank,
        kernels.event_id,
        kernels.step,
        kernels.name,
        kernels.dur_ns,
        gaps.to_ns - gaps.from_ns AS idle_ns,
        kernels.launch_id IS NULL AS is_by_op,
        coalesce(kernels.launch_id, kernels.op_id) AS host_id
    FROM kernels
    LEFT JOIN gaps ON kernels.event_id = gaps.after_kernel_id
),

-- The narrow side is on the right, to be held in memory.
places AS (
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
    places.path_id,
    nullif(places.module_id, 0) AS module_id,
    launching.name,
    count(*) AS activities,
    sum(launching.dur_ns)::BIGINT AS device_ns,
    coalesce(sum(launching.idle_ns), 0)::BIGINT AS idle_ns
FROM launching
LEFT JOIN places ON launching.event_id = places.event_id
LEFT JOIN lanes ON places.lane = lanes.lane
GROUP BY ALL;
