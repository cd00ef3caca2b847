-- The rankings of a range of steps: `ranking_of_steps(run, from_step, to_step)`. Both bounds are
-- included. A null bound leaves the range open on that side; if both are null, it covers the whole
-- recording. A null run stands for all runs.
-- One row: a name, or the bubble, of one device of one rank of a run, at one level.
--
-- run_id, level, device_id, rank, device
-- name       operator or kernel, as in `ranking`; `bubble` for idle time, as in `parts_of_steps`
-- calls      number of device activities; for the bubble, of gaps
-- device_ns  sum of the durations, ns; overlapping streams count twice
-- percent    share of the wall time of these steps (`step_metrics`), or, without bounds, of the
--            recording (`ranking_walls`); null if that time is 0
CREATE MACRO ranking_of_steps(run := NULL, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    walls AS (
        SELECT run_id, device_id, whole.rank, device, wall_ns, bubbles, idle_ns
        FROM ranking_walls AS whole
        WHERE is_of_run(run_id, run) AND is_whole(from_step, to_step)
        UNION ALL
        SELECT
            run_id,
            device_id,
            step.rank,
            device,
            sum(wall_ns)::BIGINT AS wall_ns,
            sum(bubbles)::BIGINT AS bubbles,
            sum(idle_ns)::BIGINT AS idle_ns
        FROM step_metrics AS step
        WHERE
            NOT is_whole(from_step, to_step)
            AND is_asked(run_id, step.step, run, from_step, to_step)
        GROUP BY ALL
    ),

    totals AS (
        SELECT
            run_id,
            level,
            device_id,
            ranked.rank,
            device,
            name,
            count(*) AS calls,
            sum(dur_ns)::BIGINT AS device_ns,
            NULL AS wall_ns
        FROM ranked_kernels AS ranked
        WHERE is_asked(run_id, step, run, from_step, to_step)
        GROUP BY ALL
        UNION ALL
        SELECT
            run_id,
            level,
            device_id,
            walls.rank,
            device,
            'bubble' AS name,
            bubbles AS calls,
            idle_ns AS device_ns,
            wall_ns
        FROM walls
        CROSS JOIN (VALUES ('op'), ('leaf'), ('kernel')) AS levels (level)
    )

    SELECT
        * EXCLUDE (wall_ns),
        100.0 * device_ns / nullif(max(wall_ns) OVER (PARTITION BY run_id, level, device_id), 0)
            AS percent
    FROM totals;
