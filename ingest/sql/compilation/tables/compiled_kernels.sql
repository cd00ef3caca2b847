-- Kernel calls in the code that torch.compile generated, and the operators that they come from.
-- One row: a kernel call in the code of a graph.
-- Materialised: as a table it is planned with all of DuckDB's optimizers. Writing files switches
-- one off.
--
-- run_id
-- source_id    the compile log
-- rank, compile_id
-- graph_index  number of the graph in the compilation, from 0; a backward graph follows its forward
--              graph
-- ordinal      position of the call in the code, from 1
-- kernel       name of the kernel without the number of the call: `triton_poi_fused_add_3`,
--              `extern_kernels.addmm`
-- kind         fused (a generated kernel) or extern (a library's kernel)
-- aten_nodes   nodes of the lowered graph that the kernel computes; empty if the log has no
--              provenance
-- aten_ops     function that each node in `aten_nodes` calls, in the same order, for example
--              `aten.addmm.default`
-- nodes        nodes of the user's program that `aten_nodes` come from, in program order
-- ops          function that each node in `nodes` calls, in the same order, for example
--              `torch.nn.functional.silu`
-- stacks       Python stacks of the source lines that the kernel comes from, as logged, outermost
--              frame first
WITH
lowered AS (
    SELECT
        called.source_id,
        called.compiled_graph_id,
        called.ordinal,
        list(nodes.target ORDER BY called.node_ordinal) AS aten_ops
    FROM (
        SELECT
            source_id,
            compiled_graph_id,
            ordinal,
            unnest(aten_nodes) AS aten_node,
            generate_subscripts(aten_nodes, 1) AS node_ordinal
        FROM staged_kernel_calls
    ) AS called
    LEFT JOIN (
        SELECT source_id, compiled_graph_id, node, arg_min(target, ordinal) AS target
        FROM staged_nodes
        WHERE stage = 'aten'
        GROUP BY source_id, compiled_graph_id, node
    ) AS nodes
        ON
            called.source_id = nodes.source_id
            AND called.compiled_graph_id = nodes.compiled_graph_id
            AND called.aten_node = nodes.node
    GROUP BY called.source_id, called.compiled_graph_id, called.ordinal
),

programs AS (
    SELECT
        source_id,
        compiled_graph_id,
        kernel_ordinal AS ordinal,
        list(node ORDER BY node_ordinal) AS nodes,
        list(op ORDER BY node_ordinal) AS ops
    FROM (
        SELECT DISTINCT source_id, compiled_graph_id, kernel_ordinal, node_ordinal, node, op
        FROM kernel_origins
    )
    GROUP BY source_id, compiled_graph_id, kernel_ordinal
)

SELECT
    graphs.source_id,
    graphs.rank,
    graphs.compile_id,
    graphs.graph_index,
    calls.ordinal,
    calls.kernel,
    CASE WHEN contains(calls.kernel, '.') THEN 'extern' ELSE 'fused' END AS kind,
    calls.aten_nodes,
    coalesce(lowered.aten_ops, []) AS aten_ops,
    coalesce(programs.nodes, []) AS nodes,
    coalesce(programs.ops, []) AS ops,
    calls.stacks
FROM staged_kernel_calls AS calls
INNER JOIN graphs USING (source_id, compiled_graph_id)
LEFT JOIN lowered USING (source_id, compiled_graph_id, ordinal)
LEFT JOIN programs USING (source_id, compiled_graph_id, ordinal);
