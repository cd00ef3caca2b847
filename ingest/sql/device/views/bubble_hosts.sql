-- What the host was doing while a device idled.
-- One row: a host operator and frame during bubbles of one cause, on one device of one rank.
-- Start here: Why did the device idle, and what did the host do meanwhile?
--
-- run_id      the run
-- rank        rank of the process
-- device      number of the device
-- cause       as in `bubbles`
-- host_op     operator or annotation that filled most of the gap; null when none is known
-- host_frame  Python frame that filled most of it; null when the trace has no stacks
-- bubbles     number of gaps
-- bubble_ns   time lost to them, ns
-- percent     of the device's idle time, 0 to 100
-- longest_ns  the longest of them, ns
SELECT
    run_id,
    rank,
    device,
    cause,
    host_op,
    host_frame,
    count(*) AS bubbles,
    sum(dur_ns)::BIGINT AS bubble_ns,
    100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER in_device, 0) AS percent,
    max(dur_ns) AS longest_ns
FROM bubbles
GROUP BY run_id, rank, device, cause, host_op, host_frame
-- Its order changes nothing, but keeps DuckDB from a join that reads the files of all runs.
WINDOW in_device AS (PARTITION BY run_id, rank, device ORDER BY run_id);
