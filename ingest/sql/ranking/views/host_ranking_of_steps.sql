-- Operators and compiled graphs ranked by host time in a range of steps:
-- `host_ranking_of_steps(run, from_step, to_step)`. Both bounds are included. A null bound leaves
-- the range open on that side; if both are null, it covers the whole recording.
-- One row: an operator, or a graph for which torch.compile generated code, of one rank.
--
-- rank
-- name      name of the operator or graph, as in `host_op_ranking`
-- calls     number of calls
-- self_ns   time in the operator but in no operator or annotation inside it, ns
-- total_ns  sum of the durations, ns; an operator that calls itself counts twice
-- percent   share of the self time of all operators and graphs in the rank, 0 to 100
CREATE MACRO host_ranking_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    SELECT
        op.rank,
        op.name,
        count(*) AS calls,
        sum(op.self_ns)::BIGINT AS self_ns,
        sum(op.dur_ns)::BIGINT AS total_ns,
        100.0 * sum(op.self_ns) / nullif(sum(sum(op.self_ns)) OVER in_rank, 0) AS percent
    FROM ops AS op
    WHERE
        op.run_id = run
        AND is_ranked_on_host(op.category, op.name)
        AND in_steps(op.step, from_step, to_step)
    GROUP BY op.run_id, op.rank, op.name
    -- Partitioned by run for DuckDB clients other than `ingest.connect`: see `catalog.UNSOUND`.
    WINDOW in_rank AS (PARTITION BY op.run_id, op.rank);
