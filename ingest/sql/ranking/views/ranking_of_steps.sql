-- The rankings from one step to another: `ranking_of_steps(run, from_step, to_step)`. Both steps
-- are included. Without a bound, the ranking is open on that side; without both, it covers the
-- whole recording.
-- One row: a name, or the bubble, of one device of one rank, at one level.
--
-- level      op (outermost operator around the launch), leaf (innermost) or kernel
-- rank       rank of the process
-- device     number of the device
-- name       operator or kernel, as in `ranking`; `bubble` for the idle gaps that activities of
--            these steps ended
-- calls      device activities; for the bubble, gaps
-- device_ns  sum of durations, ns; streams that overlap count twice
CREATE MACRO ranking_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    SELECT
        ranked.level,
        ranked.rank,
        ranked.device,
        ranked.name,
        count(*) AS calls,
        sum(ranked.dur_ns)::BIGINT AS device_ns
    FROM ranked_kernels AS ranked
    WHERE ranked.run_id = run AND in_steps(ranked.step, from_step, to_step)
    GROUP BY ranked.level, ranked.rank, ranked.device, ranked.name
    UNION ALL
    SELECT
        levels.level,
        gap.rank,
        gap.device,
        'bubble' AS name,
        count(*) AS calls,
        sum(gap.dur_ns)::BIGINT AS device_ns
    FROM bubbles AS gap
    CROSS JOIN (VALUES ('op'), ('leaf'), ('kernel')) AS levels (level)
    WHERE gap.run_id = run AND in_steps(gap.step, from_step, to_step)
    GROUP BY levels.level, gap.rank, gap.device;
