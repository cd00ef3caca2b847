-- Device time by operator and by kernel at three levels, with each device's idle time as one more
-- row, `bubble`. `op_ranking`, `leaf_op_ranking` and `kernel_ranking` are its levels.
-- One row: a name, or the bubble, of one device of one rank of a run, at one level.
--
-- run_id     the run
-- level      op (outermost operator around the launch), leaf (innermost) or kernel
-- rank       rank of the process; 0 when there was one
-- device     number of the device
-- name       operator or kernel; `(graph) <kernel>` for what a graph launch outside any operator
--            owns, `(no op)` for what has no launch record or no operator around it, `bubble` for
--            idle time
-- calls      device activities; for the bubble, gaps
-- device_ns  sum of durations, ns; streams that overlap count twice
-- percent    of the device's span, 0 to 100; null when the span is 0
WITH totals AS (
    SELECT
        run_id,
        level,
        rank,
        device,
        name,
        count(*) AS calls,
        sum(dur_ns)::BIGINT AS device_ns,
        NULL AS span_ns
    FROM ranked_kernels
    GROUP BY run_id, level, rank, device, name
    UNION ALL
    SELECT
        run_id,
        level,
        rank,
        device,
        'bubble' AS name,
        bubbles AS calls,
        bubble_ns AS device_ns,
        span_ns
    FROM device_totals
    CROSS JOIN (VALUES ('op'), ('leaf'), ('kernel')) AS levels (level)
)

SELECT
    run_id,
    level,
    rank,
    device,
    name,
    calls,
    device_ns,
    100.0 * device_ns
    / nullif(max(span_ns) OVER (PARTITION BY run_id, level, rank, device), 0) AS percent
FROM totals;
