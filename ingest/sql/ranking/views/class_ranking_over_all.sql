-- The rankings by class, summed over all ranks and devices of a run.
-- One row: a class of a name, or the bubble, of a run at one level.
--
-- run_id, level
-- name       operator or kernel, or `bubble`, as in `ranking`
-- class      compute, communication or copy; `bubble` for idle time
-- calls      number of device activities; for the bubble, of gaps
-- device_ns  sum of the durations over all devices, ns
-- name_ns
SELECT
    run_id,
    level,
    name,
    class,
    sum(calls)::BIGINT AS calls,
    sum(device_ns)::BIGINT AS device_ns,
    sum(sum(device_ns)) OVER (PARTITION BY run_id, level, name)::BIGINT AS name_ns
FROM class_ranking
GROUP BY run_id, level, name, class;
