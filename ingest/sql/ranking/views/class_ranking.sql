-- The rankings, with the device time of each name divided by class.
-- One row: a class of a name, or the bubble, on one device of one rank of a run, at one level.
--
-- run_id, level, rank, device
-- name       operator or kernel, or `bubble`, as in `ranking`
-- class      compute, communication or copy; `bubble` for idle time
-- calls      number of device activities; for the bubble, of gaps
-- device_ns  sum of the durations, ns
-- name_ns
WITH totals AS (
    SELECT
        run_id,
        level,
        rank,
        device,
        name,
        class,
        count(*) AS calls,
        sum(dur_ns)::BIGINT AS device_ns
    FROM ranked_kernels
    GROUP BY run_id, level, rank, device, name, class
    UNION ALL
    SELECT run_id, level, rank, device, name, 'bubble' AS class, calls, device_ns
    FROM ranking
    WHERE name = 'bubble'
)

SELECT
    *,
    sum(device_ns) OVER (PARTITION BY run_id, level, rank, device, name)::BIGINT AS name_ns
FROM totals;
