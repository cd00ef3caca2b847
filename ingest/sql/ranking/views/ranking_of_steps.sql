-- The rankings of a range of steps: `ranking_of_steps(run, from_step, to_step)`. Both bounds are
-- included. A null bound leaves the range open on that side; if both are null, it covers the whole
-- recording.
-- One row: a name, or the bubble, of one device of one rank, at one level.
--
-- level      op (outermost operator around the launch), leaf (innermost) or kernel
-- device_id, rank, device
-- name       operator or kernel, as in `ranking`; `bubble` for idle time, as in `parts_of_steps`
-- calls      number of device activities; for the bubble, of gaps
-- device_ns  sum of the durations, ns; overlapping streams count twice
-- percent    share of the wall time of these steps (`step_metrics`), or, without bounds, of the
--            recording (`ranking_walls`); null if that time is 0
CREATE MACRO ranking_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH walls AS (
        SELECT
            whole.device_id,
            whole.rank,
            whole.device,
            whole.wall_ns,
            whole.bubbles,
            whole.idle_ns
        FROM ranking_walls AS whole
        WHERE whole.run_id = run AND from_step IS NULL AND to_step IS NULL
        UNION ALL
        SELECT
            step.device_id,
            step.rank,
            step.device,
            sum(step.wall_ns)::BIGINT AS wall_ns,
            sum(step.bubbles)::BIGINT AS bubbles,
            sum(step.idle_ns)::BIGINT AS idle_ns
        FROM step_metrics AS step
        WHERE
            step.run_id = run
            AND coalesce(from_step, to_step) IS NOT NULL
            AND in_steps(step.step, from_step, to_step)
        GROUP BY ALL
    ),

    totals AS (
        SELECT
            ranked.level,
            ranked.device_id,
            ranked.rank,
            ranked.device,
            ranked.name,
            count(*) AS calls,
            sum(ranked.dur_ns)::BIGINT AS device_ns
        FROM ranked_kernels AS ranked
        WHERE ranked.run_id = run AND in_steps(ranked.step, from_step, to_step)
        GROUP BY ALL
        UNION ALL
        SELECT
            levels.level,
            walls.device_id,
            walls.rank,
            walls.device,
            'bubble' AS name,
            walls.bubbles AS calls,
            walls.idle_ns AS device_ns
        FROM walls
        CROSS JOIN (VALUES ('op'), ('leaf'), ('kernel')) AS levels (level)
        WHERE walls.idle_ns IS NOT NULL
    )

    SELECT totals.*, 100.0 * totals.device_ns / nullif(walls.wall_ns, 0) AS percent
    FROM totals
    LEFT JOIN walls USING (device_id);
