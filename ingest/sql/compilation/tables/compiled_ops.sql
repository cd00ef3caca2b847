-- The user's program as torch.compile saw it: its ops in order, and the kernels that compute them.
-- One row: an op of a graph.
-- Materialised: as a table it is planned with all of DuckDB's optimizers. Writing files switches
-- one off.
--
-- run_id
-- source_id        the compile log
-- rank, compile_id, graph_index
-- ordinal          position of the op in the graph, from 1
-- node             name of the op's node in the graph, after the variable that holds the result
-- op               function that the op calls, as torch prints it: `torch._C._nn.linear`;
--                  `operator.add` for `+`, `operator.getitem` for an index, `Tensor.sum` for a
--                  method
-- short_name       name of the op as in `top_ops`: `linear`, `add`
-- filename         file with the source line of the op; null if torch does not know it
-- line             number of the source line
-- function         function that contains the source line
-- code             text of the source line
-- shape            type and shape of the result, for example `f32[s2, 32]`
-- kernel_ordinal   the one kernel call (`compiled_kernels.ordinal`) under which the op is counted:
--                  the extern kernel that calls the op itself, or else the kernel that computes
--                  most of it, or else the first; null if no kernel computes it, for example for a
--                  view
-- kernel_ordinals  all kernel calls (`compiled_kernels.ordinal`) that compute a part of the op
WITH
shares AS (
    SELECT
        source_id,
        compiled_graph_id,
        node_ordinal,
        kernel_ordinal,
        count(DISTINCT aten_node) AS aten_nodes,
        bool_or(coalesce(calls_itself, FALSE)) AS calls_itself
    FROM kernel_origins
    WHERE compiled_graph_id = program_id
    GROUP BY source_id, compiled_graph_id, node_ordinal, kernel_ordinal
),

computed AS (
    SELECT
        source_id,
        compiled_graph_id,
        node_ordinal AS ordinal,
        arg_min(kernel_ordinal, [if(calls_itself, 0, 1), -aten_nodes, kernel_ordinal])
            AS kernel_ordinal,
        list(kernel_ordinal ORDER BY kernel_ordinal) AS kernel_ordinals
    FROM shares
    GROUP BY source_id, compiled_graph_id, node_ordinal
)

SELECT
    graphs.source_id,
    graphs.rank,
    graphs.compile_id,
    graphs.graph_index,
    program.ordinal,
    program.node,
    program.target AS op,
    short_op(program.target) AS short_name,
    program.filename,
    program.line,
    program.function,
    program.code,
    program.shape,
    computed.kernel_ordinal,
    coalesce(computed.kernel_ordinals, []) AS kernel_ordinals
FROM staged_nodes AS program
INNER JOIN graphs USING (source_id, compiled_graph_id)
LEFT JOIN computed USING (source_id, compiled_graph_id, ordinal)
WHERE program.stage = 'program';
