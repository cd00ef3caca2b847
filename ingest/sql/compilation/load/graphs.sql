-- Graphs whose generated code was put to use: of attempts at a compilation the last one counts.
-- One row: a graph. A backward graph has no program of its own; its ops are the forward graph's.
CREATE TABLE graphs AS
WITH
used AS (
    SELECT
        staged_graphs.*,
        (source_id, graph_id) IN (
            SELECT (source_id, graph_id) FROM staged_nodes WHERE stage = 'program'
        ) AS has_program
    FROM staged_graphs
    WHERE NOT EXISTS (
        FROM staged_graphs AS later
        WHERE
            later.source_id = staged_graphs.source_id
            AND later.compile_id = staged_graphs.compile_id
            AND later.ordinal > staged_graphs.ordinal
            AND later.attempt > staged_graphs.attempt
    )
)

SELECT
    used.source_id,
    sources.rank,
    used.graph_id,
    used.compile_id,
    (row_number() OVER so_far - 1)::INTEGER AS graph,
    used.key,
    used.aot_id,
    used.has_origins,
    max(CASE WHEN used.has_program THEN used.graph_id END) OVER so_far AS program_id
FROM used
INNER JOIN staged_sources AS sources USING (source_id)
WINDOW so_far AS (PARTITION BY used.source_id, used.compile_id ORDER BY used.ordinal);

-- Of which ops of the program a kernel call computes a part: through the lowered nodes.
-- One row: a lowered node of a kernel call, and an op that it comes of.
CREATE TABLE kernel_origins AS
WITH
computed AS (
    SELECT source_id, graph_id, ordinal, kernel, unnest(aten_nodes) AS aten_node
    FROM staged_kernel_calls
),

origins AS (
    SELECT source_id, graph_id, aten_node, unnest(nodes) AS node FROM staged_origins
)

SELECT
    computed.source_id,
    computed.graph_id,
    computed.ordinal,
    computed.aten_node,
    program.graph_id AS program_id,
    program.position,
    program.node,
    program.target AS op,
    contains(computed.kernel, '.') AND dispatched(lowered.target) = dispatched(computed.kernel)
        AS calls_itself
FROM computed
INNER JOIN graphs USING (source_id, graph_id)
INNER JOIN origins USING (source_id, graph_id, aten_node)
INNER JOIN staged_nodes AS program
    ON
        graphs.source_id = program.source_id
        AND graphs.program_id = program.graph_id
        AND program.stage = 'program'
        AND origins.node = program.node
LEFT JOIN staged_nodes AS lowered
    ON
        computed.source_id = lowered.source_id
        AND computed.graph_id = lowered.graph_id
        AND lowered.stage = 'aten'
        AND computed.aten_node = lowered.node;
