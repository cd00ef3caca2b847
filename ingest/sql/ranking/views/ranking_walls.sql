-- Part of `ranking`: the wall time of each device. The shares in rankings of a whole recording are
-- shares of it.
-- One row: a device of one rank of a run.
--
-- run_id, device_id, rank, device
-- wall_ns  wall time of all measured steps, with the time between them, plus busy time outside of
--          them, ns
-- busy_ns  busy time in the whole recording, ns
-- idle_ns  idle time in the measured steps, ns
-- bubbles  number of gaps in the measured steps
WITH measured AS (
    SELECT
        run_id,
        device_id,
        sum(wall_ns) AS wall_ns,
        sum(wall_ns - idle_ns - fill_ns) AS busy_ns,
        sum(idle_ns)::BIGINT AS idle_ns,
        sum(bubbles)::BIGINT AS bubbles
    FROM step_metrics
    GROUP BY run_id, device_id
)

SELECT
    total.run_id,
    total.device_id,
    total.rank,
    total.device,
    (measured.wall_ns + total.busy_ns - measured.busy_ns)::BIGINT AS wall_ns,
    total.busy_ns,
    measured.idle_ns,
    measured.bubbles
FROM device_totals AS total
INNER JOIN measured USING (run_id, device_id);
