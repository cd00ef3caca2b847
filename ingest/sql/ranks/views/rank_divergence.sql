-- Ranks that ran something else than the other ranks.
-- One row: a kind of difference at a name, among ranks that are expected to do the same work
-- (`rank_peers`).
--
-- Only steps that all of these ranks recorded are compared (`compared_rank_steps`). Without such
-- steps, only compilations in compile logs are compared.
--
-- run_id
-- kind             op (an outermost operator that is missing or has another number of calls), shape
--                  (an operator that has other input shapes), kernel (an operator that launched
--                  other kernels), graph (compiled code with another number of calls, or another
--                  number of compiled graphs), or compilation (code that was compiled another
--                  number of times)
-- name             name of the operator, as in `top_ops` for op and shape, and as in `op_ranking`
--                  for kernel; the compiled region, or `compiled graphs`; the compiled function, or
--                  its `compile_id`, or `(unknown)`
-- lowest_peer      lowest of the ranks that were compared
-- steps            number of steps that were compared; null for compilations
-- variants         number of different ways of the ranks
-- differing_ranks  the ranks that differ from most ranks, in ascending order; from several equally
--                  frequent ways, the one of the lowest rank is taken as that of most ranks
-- other_ranks      the other ranks, which all do the same, in ascending order
-- min_count        lowest count of a rank: of calls in these steps; for shape and kernel, of
--                  different shapes and kernels; for compilation, of compilations
-- max_count        highest count of a rank
WITH
calls AS (
    SELECT
        run_id,
        rank,
        shared.lowest_peer,
        compared_name(ops.name) AS name,
        ops.input_dims,
        count(*) AS calls
    FROM top_ops AS ops
    INNER JOIN compared_rank_steps AS shared USING (run_id, rank, step)
    WHERE ops.kind <> 'compilation'
    GROUP BY ALL
),

launched AS (
    SELECT
        run_id,
        rank,
        shared.lowest_peer,
        compared_name(ranked.name) AS name,
        ranked.kernel
    FROM ranked_kernels AS ranked
    INNER JOIN compared_rank_steps AS shared USING (run_id, rank, step)
    WHERE ranked.level = 'op'
    GROUP BY ALL
),

compiled_code AS (
    SELECT run_id, rank, shared.lowest_peer, ops.name, count(*) AS calls
    FROM ops
    INNER JOIN compared_rank_steps AS shared USING (run_id, rank, step)
    WHERE is_compiled_region(ops.name) OR is_compiled_graph(ops.name)
    GROUP BY ALL
),

-- A log has all compilations of a process, a trace only those of its steps. So ranks with a log are
-- compared with each other, and ranks without one. Like `counts`, this is not materialised, so that
-- a query of one run reads only its files.
compiling AS NOT MATERIALIZED (
    SELECT
        run_id,
        rank,
        recorded.has_log,
        min(rank) OVER (PARTITION BY run_id, peers.lowest_peer, recorded.has_log) AS lowest_peer
    FROM (
        SELECT run_id, rank, bool_or(has_log) AS has_log
        FROM (
            SELECT run_id, rank, TRUE AS has_log FROM compilations WHERE evidence = 'log'
            UNION ALL
            SELECT run_id, rank, FALSE AS has_log FROM compared_rank_steps
        )
        GROUP BY run_id, rank
    ) AS recorded
    INNER JOIN rank_peers AS peers USING (run_id, rank)
),

compiled AS (
    SELECT
        run_id,
        rank,
        compiling.lowest_peer,
        coalesce(found.compiled_frame, found.compile_id, '(unknown)') AS name,
        count(DISTINCT found.ordinal) AS compilations
    FROM compilations AS found
    INNER JOIN compiling USING (run_id, rank)
    LEFT JOIN compared_rank_steps AS shared
        ON
            found.run_id = shared.run_id
            AND found.rank = shared.rank
            AND found.start_ns < shared.end_ns
            AND found.start_ns + found.dur_ns > shared.start_ns
    WHERE compiling.has_log OR shared.step IS NOT NULL
    GROUP BY ALL
),

counts AS NOT MATERIALIZED (
    SELECT run_id, 'op' AS kind, name, lowest_peer, rank, sum(calls)::BIGINT AS count
    FROM calls
    GROUP BY ALL
    UNION ALL
    SELECT run_id, 'graph' AS kind, name, lowest_peer, rank, calls AS count
    FROM compiled_code
    WHERE is_compiled_region(name)
    UNION ALL
    -- The names of graphs contain a hash, which depends on the device's number.
    SELECT
        run_id,
        'graph' AS kind,
        'compiled graphs' AS name,
        lowest_peer,
        rank,
        count(*) AS count
    FROM compiled_code
    WHERE is_compiled_graph(name)
    GROUP BY ALL
    UNION ALL
    SELECT run_id, 'compilation' AS kind, name, lowest_peer, rank, compilations AS count
    FROM compiled
),

known AS (
    SELECT DISTINCT run_id, 'op' AS kind, lowest_peer, rank FROM calls
    UNION ALL
    SELECT DISTINCT run_id, 'graph' AS kind, lowest_peer, rank FROM calls
    UNION ALL
    SELECT run_id, 'compilation' AS kind, lowest_peer, rank FROM compiling
),

ways AS (
    SELECT
        names.*,
        known.rank,
        coalesce(own.count, 0) AS count,
        hash(coalesce(own.count, 0)) AS way
    FROM (SELECT DISTINCT run_id, kind, lowest_peer, name FROM counts) AS names
    INNER JOIN known USING (run_id, kind, lowest_peer)
    LEFT JOIN counts AS own USING (run_id, kind, lowest_peer, name, rank)
    UNION ALL BY NAME
    SELECT
        run_id,
        'shape' AS kind,
        name,
        lowest_peer,
        rank,
        count(input_dims) AS count,
        hash(list(input_dims ORDER BY input_dims)) AS way
    FROM calls
    WHERE input_dims IS NOT NULL
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        run_id,
        'kernel' AS kind,
        name,
        lowest_peer,
        rank,
        count(*) AS count,
        hash(list(kernel ORDER BY kernel)) AS way
    FROM launched
    GROUP BY ALL
),

shares AS (
    SELECT
        *,
        count(*) OVER same_way AS ranks,
        min(rank) OVER same_way AS first_rank
    FROM ways
    WINDOW same_way AS (PARTITION BY run_id, kind, name, lowest_peer, way)
),

compared AS (
    SELECT
        *,
        way <> arg_min(way, (-ranks, first_rank)) OVER (
            PARTITION BY run_id, kind, name, lowest_peer
        ) AS is_different
    FROM shares
),

step_counts AS (
    SELECT run_id, lowest_peer, count(DISTINCT step) AS steps
    FROM compared_rank_steps
    GROUP BY run_id, lowest_peer
),

differences AS (
    SELECT
        run_id,
        kind,
        name,
        lowest_peer,
        count(DISTINCT way) AS variants,
        list(rank ORDER BY rank) FILTER (WHERE is_different) AS differing_ranks,
        list(rank ORDER BY rank) FILTER (WHERE NOT is_different) AS other_ranks,
        min(count) AS min_count,
        max(count) AS max_count
    FROM compared
    GROUP BY run_id, kind, name, lowest_peer
    HAVING bool_or(is_different)
)

SELECT
    run_id,
    found.kind,
    found.name,
    lowest_peer,
    CASE WHEN found.kind <> 'compilation' THEN step_counts.steps END AS steps,
    found.variants,
    found.differing_ranks,
    found.other_ranks,
    found.min_count,
    found.max_count
FROM differences AS found
LEFT JOIN step_counts USING (run_id, lowest_peer);
