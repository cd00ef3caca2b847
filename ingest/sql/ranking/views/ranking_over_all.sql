-- The rankings, summed over all ranks and devices of a run.
-- One row: a name, or the bubble, of a run at one level.
--
-- run_id, level
-- name       operator or kernel, or `bubble`, as in `ranking`
-- calls      number of device activities; for the bubble, of gaps
-- device_ns  sum of the durations over all devices, ns
-- percent    share of the sum of the devices' wall times, 0 to 100; null if that is 0
WITH walls AS (
    SELECT run_id, sum(wall_ns)::BIGINT AS wall_ns FROM ranking_walls GROUP BY run_id
)

SELECT
    ranking.run_id,
    ranking.level,
    ranking.name,
    sum(ranking.calls)::BIGINT AS calls,
    sum(ranking.device_ns)::BIGINT AS device_ns,
    100.0 * sum(ranking.device_ns) / nullif(any_value(walls.wall_ns), 0) AS percent
FROM ranking
INNER JOIN walls ON ranking.run_id = walls.run_id
GROUP BY ranking.run_id, ranking.level, ranking.name;
