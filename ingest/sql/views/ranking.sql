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
CREATE VIEW ranking AS
WITH
named AS (
    SELECT
        run_id, rank, device, dur_ns, 'op' AS level,
        coalesce(top_op, CASE WHEN graph_launch THEN '(graph) ' || name ELSE '(no op)' END) AS name
    FROM kernels
    UNION ALL
    SELECT
        run_id, rank, device, dur_ns, 'leaf' AS level,
        coalesce(op, CASE WHEN graph_launch THEN '(graph) ' || name ELSE '(no op)' END) AS name
    FROM kernels
    UNION ALL
    SELECT run_id, rank, device, dur_ns, 'kernel' AS level, name
    FROM kernels
),

spans AS (
    SELECT
        run_id,
        rank,
        device,
        sum(span_ns)::BIGINT AS span_ns,
        sum(bubble_ns)::BIGINT AS bubble_ns,
        sum(bubbles)::BIGINT AS bubbles
    FROM device_time
    GROUP BY run_id, rank, device
),

totals AS (
    SELECT
        run_id, level, rank, device, name, count(*) AS calls, sum(dur_ns)::BIGINT AS device_ns
    FROM named
    GROUP BY run_id, level, rank, device, name
    UNION ALL
    SELECT run_id, level, rank, device, 'bubble' AS name, bubbles AS calls, bubble_ns AS device_ns
    FROM spans
    CROSS JOIN (VALUES ('op'), ('leaf'), ('kernel')) AS levels (level)
)

SELECT
    totals.run_id,
    totals.level,
    totals.rank,
    totals.device,
    totals.name,
    totals.calls,
    totals.device_ns,
    100.0 * totals.device_ns / nullif(spans.span_ns, 0) AS percent
FROM totals
INNER JOIN spans
    ON
        totals.run_id = spans.run_id
        AND totals.rank = spans.rank
        AND totals.device IS NOT DISTINCT FROM spans.device;
