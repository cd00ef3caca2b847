-- Operators and compiled graphs ranked by host time in a range of steps:
-- `host_ranking_of_steps(run, from_step, to_step)`. Both bounds are included. A null bound leaves
-- the range open on that side; if both are null, it covers the whole recording. A null run stands
-- for all runs.
-- One row: an operator, or a graph for which torch.compile generated code, of one rank.
--
-- run_id, rank
-- name      name of the operator or graph, as in `host_op_ranking`
-- calls
-- self_ns   time in the operator but in no operator or annotation inside it, ns
-- total_ns  sum of the durations, ns; an operator that calls itself counts twice
-- percent   share of the self time of all operators and graphs in the rank, 0 to 100
CREATE MACRO host_ranking_of_steps(run := NULL, from_step := NULL, to_step := NULL) AS TABLE
    SELECT
        run_id,
        op.rank,
        name,
        count(*) AS calls,
        sum(self_ns)::BIGINT AS self_ns,
        sum(dur_ns)::BIGINT AS total_ns,
        100.0 * sum(self_ns) / nullif(sum(sum(self_ns)) OVER in_rank, 0) AS percent
    FROM ops AS op
    WHERE
        is_ranked_on_host(category, name)
        AND is_asked(run_id, step, run, from_step, to_step)
    GROUP BY run_id, op.rank, name
    WINDOW in_rank AS (PARTITION BY run_id, op.rank);
