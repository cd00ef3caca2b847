-- The rankings divided by class, with all ranks and devices of a run taken together.
-- One row: a class of a name, or the bubble, of a run at one level.
--
-- run_id     the run
-- level      op (outermost operator around the launch), leaf (innermost) or kernel
-- name       operator or kernel, or `bubble`, as in `ranking`
-- class      compute, communication or copy; `bubble` for idle time
-- calls      device activities; for the bubble, gaps
-- device_ns  sum of durations over all devices, ns
-- name_ns    the same over all classes of the name: its place in the ranking, ns
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
