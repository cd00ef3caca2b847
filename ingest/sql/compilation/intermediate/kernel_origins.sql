-- The ops of the user's program that each kernel call computes, fully or in part. They are found
-- through the lowered nodes of the graph.
-- One row: a lowered node of a kernel call, and an op that it comes from.
-- Materialised: several relations read it.
WITH
computed AS (
    SELECT source_id, compiled_graph_id, ordinal, kernel, unnest(aten_nodes) AS aten_node
    FROM staged_kernel_calls
),

origins AS (
    SELECT source_id, compiled_graph_id, aten_node, unnest(nodes) AS node FROM staged_origins
)

SELECT
    computed.source_id,
    computed.compiled_graph_id,
    computed.ordinal AS kernel_ordinal,
    computed.aten_node,
    program.compiled_graph_id AS program_id,
    program.ordinal AS node_ordinal,
    program.node,
    program.target AS op,
    contains(computed.kernel, '.') AND dispatched(lowered.target) = dispatched(computed.kernel)
        AS calls_itself
FROM computed
INNER JOIN graphs USING (source_id, compiled_graph_id)
INNER JOIN origins USING (source_id, compiled_graph_id, aten_node)
INNER JOIN staged_nodes AS program
    ON
        graphs.source_id = program.source_id
        AND graphs.program_id = program.compiled_graph_id
        AND program.stage = 'program'
        AND origins.node = program.node
LEFT JOIN staged_nodes AS lowered
    ON
        computed.source_id = lowered.source_id
        AND computed.compiled_graph_id = lowered.compiled_graph_id
        AND lowered.stage = 'aten'
        AND computed.aten_node = lowered.node;
