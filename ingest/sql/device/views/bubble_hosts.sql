-- What the host was doing while a device was idle, between its first activity and its last.
-- One row: a host operator and a Python frame during gaps of one cause, on one device of one rank.
-- Start here: Why was the device idle, and what did the host do meanwhile?
--
-- run_id, rank, device
-- cause    cause of idle time, as in `bubbles`
-- host_op, host_frame, bubbles
-- idle_ns  sum of the durations of the gaps, ns
-- percent  share of the device's idle time, 0 to 100
-- longest_ns
SELECT
    run_id,
    rank,
    device,
    cause,
    host_op,
    host_frame,
    count(*) AS bubbles,
    sum(dur_ns)::BIGINT AS idle_ns,
    100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER in_device, 0) AS percent,
    max(dur_ns) AS longest_ns
FROM bubbles
WHERE NOT is_edge
GROUP BY run_id, rank, device, cause, host_op, host_frame
-- ORDER BY does not change the result. Without it DuckDB plans a join that reads all runs' files.
WINDOW in_device AS (PARTITION BY run_id, rank, device ORDER BY run_id);
