-- Input shapes of each operator, with their host time.
-- One row: the shapes and types with which an operator was called, in one rank of a run.
--
-- run_id, rank
-- name        name of the operator or graph, as in `host_op_ranking`
-- input_dims  shapes of the inputs, as recorded (JSON); null if not recorded
-- input_types, shapes, calls
-- self_ns     time in the operator but in no operator or annotation inside it, ns
-- total_ns    sum of the durations, ns
-- percent     share of the operator's self time in the rank, 0 to 100
SELECT
    run_id,
    rank,
    name,
    input_dims,
    input_types,
    shapes_text(input_dims, input_types) AS shapes,
    count(*) AS calls,
    sum(self_ns)::BIGINT AS self_ns,
    sum(dur_ns)::BIGINT AS total_ns,
    100.0 * sum(self_ns) / nullif(sum(sum(self_ns)) OVER in_op, 0) AS percent
FROM ops
WHERE is_ranked_on_host(category, name)
GROUP BY run_id, rank, name, input_dims, input_types
WINDOW in_op AS (PARTITION BY run_id, rank, name);
