-- Graphs whose compiled code was used. If a compilation had several attempts, those of the last
-- one.
-- One row: a graph. A backward graph has no program of its own; its ops are those of the forward
-- graph.
-- Materialised: several relations read it.
WITH
used AS (
    SELECT
        staged_graphs.*,
        (source_id, compiled_graph_id) IN (
            SELECT (source_id, compiled_graph_id) FROM staged_nodes WHERE stage = 'program'
        ) AS has_program
    FROM staged_graphs
    WHERE NOT EXISTS (
        FROM staged_graphs AS later
        WHERE
            later.source_id = staged_graphs.source_id
            AND later.compile_id = staged_graphs.compile_id
            AND later.reset = staged_graphs.reset
            AND later.ordinal > staged_graphs.ordinal
            AND later.attempt > staged_graphs.attempt
    )
)

SELECT
    used.source_id,
    sources.rank,
    used.compiled_graph_id,
    used.compile_id,
    (row_number() OVER so_far - 1)::INTEGER AS graph_index,
    used.key,
    used.aot_id,
    used.has_origins,
    max(CASE WHEN used.has_program THEN used.compiled_graph_id END) OVER so_far AS program_id
FROM used
INNER JOIN staged_sources AS sources USING (source_id)
WINDOW so_far AS (PARTITION BY used.source_id, used.compile_id ORDER BY used.ordinal);
