-- Idle time of each device between its first activity and its last, by cause.
-- One row: a cause of idle time on one device of one rank of a run.
--
-- run_id, rank, device
-- cause    cause of idle time, as in `bubbles`
-- bubbles
-- idle_ns  sum of the durations of the gaps, ns
-- percent  share of the device's idle time, 0 to 100
SELECT
    run_id,
    rank,
    device,
    cause,
    count(*) AS bubbles,
    sum(dur_ns)::BIGINT AS idle_ns,
    100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER in_device, 0) AS percent
FROM bubbles
WHERE NOT is_edge
GROUP BY run_id, rank, device, cause
WINDOW in_device AS (PARTITION BY run_id, rank, device);
