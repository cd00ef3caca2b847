-- Device time by operator and by kernel at three levels, with each device's idle time as an
-- additional row, `bubble`. `op_ranking`, `leaf_op_ranking` and `kernel_ranking` show one level
-- each.
-- One row: a name, or the bubble, of one device of one rank of a run, at one level.
--
-- run_id
-- level      op (outermost operator around the launch), leaf (innermost) or kernel
-- device_id
-- rank       rank of the process; 0 if there was only one process
-- device
-- name       operator or kernel; `(graph) <kernel>` for an activity of a graph launch without a
--            known operator, `(no op)` for an activity without a launch record or an operator
--            around its launch, `bubble` for idle time
-- calls      number of device activities; for the bubble, of gaps
-- device_ns  sum of the durations, ns; overlapping streams count twice
-- percent    share of the device's wall time (`ranking_walls`), 0 to 100; more if streams overlap;
--            null if that is 0
WITH totals AS (
    SELECT
        run_id,
        level,
        device_id,
        rank,
        device,
        name,
        count(*) AS calls,
        sum(dur_ns)::BIGINT AS device_ns,
        NULL AS wall_ns
    FROM ranked_kernels
    GROUP BY ALL
    UNION ALL
    SELECT
        run_id,
        level,
        device_id,
        rank,
        device,
        'bubble' AS name,
        bubbles AS calls,
        idle_ns AS device_ns,
        wall_ns
    FROM ranking_walls
    CROSS JOIN (VALUES ('op'), ('leaf'), ('kernel')) AS levels (level)
)

SELECT
    run_id,
    level,
    device_id,
    rank,
    device,
    name,
    calls,
    device_ns,
    100.0 * device_ns
    / nullif(max(wall_ns) OVER (PARTITION BY run_id, level, device_id), 0) AS percent
FROM totals;
