-- Host time by operator from one step to another: `host_ranking_of_steps(run, from_step, to_step)`.
-- Both steps are included. Without a bound, the ranking is open on that side; without both, it
-- covers the whole recording.
-- One row: an operator of one rank.
--
-- rank      rank of the process
-- name      name of the cpu_op
-- calls     number of calls
-- self_ns   time inside the operator and no operator or annotation within it, ns
-- total_ns  sum of durations, ns; an operator inside itself counts twice
CREATE MACRO host_ranking_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    SELECT
        op.rank,
        op.name,
        count(*) AS calls,
        sum(op.self_ns)::BIGINT AS self_ns,
        sum(op.dur_ns)::BIGINT AS total_ns
    FROM ops AS op
    WHERE op.run_id = run AND op.category = 'cpu_op' AND in_steps(op.step, from_step, to_step)
    GROUP BY op.rank, op.name;
