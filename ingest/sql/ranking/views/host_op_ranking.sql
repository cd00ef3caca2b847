-- Operators and compiled graphs ranked by host time, for runs without a device.
-- One row: an operator, or a graph for which torch.compile generated code, of one rank of a run.
--
-- run_id, rank
-- name      name of the operator, or of the graph's calls: `## Call CompiledFxGraph …`
-- calls     number of calls
-- self_ns   time in the operator but in no operator or annotation inside it, ns; for a graph, this
--           is its generated code
-- total_ns  sum of the durations, ns; an operator that calls itself counts twice
-- percent   share of the self time of all operators and graphs in the rank, 0 to 100
SELECT
    run_id,
    rank,
    name,
    count(*) AS calls,
    sum(self_ns)::BIGINT AS self_ns,
    sum(dur_ns)::BIGINT AS total_ns,
    100.0 * sum(self_ns) / nullif(sum(sum(self_ns)) OVER in_rank, 0) AS percent
FROM ops
WHERE is_ranked_on_host(category, name)
GROUP BY run_id, rank, name
WINDOW in_rank AS (PARTITION BY run_id, rank);
