-- Part of `rank_divergence`: the steps in which ranks are compared. All ranks that are expected to
-- do the same work (`rank_peers`) recorded them: steps with the profiler's numbers, or other steps
-- if all of these ranks have equally many.
-- One row: a step of a rank.
--
-- run_id, rank
-- lowest_peer  lowest rank that does the same work, as in `rank_peers`
-- step         number of the step (`steps.step`)
-- start_ns     Unix time at which the step began, ns
-- end_ns       Unix time at which it ended, ns
WITH rank_steps AS (
    SELECT
        run_id,
        rank,
        peers.lowest_peer,
        steps.step,
        min(steps.start_ns) AS start_ns,
        max(steps.start_ns + steps.dur_ns) AS end_ns,
        bool_and(steps.steps_from = 'ProfilerStep') AS is_numbered,
        count(*) OVER (PARTITION BY run_id, rank) AS steps
    FROM steps
    INNER JOIN rank_peers AS peers USING (run_id, rank)
    WHERE steps.step IS NOT NULL
    GROUP BY run_id, rank, peers.lowest_peer, steps.step
)

SELECT run_id, rank, lowest_peer, step, start_ns, end_ns
FROM rank_steps
WINDOW
    of_peers AS (PARTITION BY run_id, lowest_peer),
    of_step AS (PARTITION BY run_id, lowest_peer, step)
QUALIFY
    (bool_and(is_numbered) OVER of_peers OR min(steps) OVER of_peers = max(steps) OVER of_peers)
    AND count(DISTINCT rank) OVER of_peers > 1
    AND count(DISTINCT rank) OVER of_peers = count(*) OVER of_step;
