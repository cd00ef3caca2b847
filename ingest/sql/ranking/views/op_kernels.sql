-- Kernels of each operator, at each level of the rankings.
-- One row: a kernel name under an operator, on one device of one rank of a run, at one level.
--
-- run_id, level
-- name       operator, as in `ranking`
-- rank, device
-- kernel     name of the kernel, copy or memset
-- class
-- calls      number of device activities
-- device_ns  sum of the durations, ns
-- percent    share of the operator's device time on that device, 0 to 100
-- mean_ns, min_ns, max_ns
SELECT
    run_id,
    level,
    name,
    rank,
    device,
    kernel,
    any_value(class) AS class,
    count(*) AS calls,
    sum(dur_ns)::BIGINT AS device_ns,
    100.0 * sum(dur_ns)
    / nullif(sum(sum(dur_ns)) OVER (PARTITION BY run_id, level, name, rank, device), 0) AS percent,
    avg(dur_ns) AS mean_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns
FROM ranked_kernels
GROUP BY run_id, level, name, rank, device, kernel;
