-- The kernel calls of compiled code in the trace, with the graph in the compile log.
-- One row: a row of `compiled_calls`, with the key of its graph in the staged tables of the log.
SELECT calls.event_id, calls.region_id, calls.ordinal, graphs.source_id, graphs.compiled_graph_id
FROM compiled_calls AS calls
INNER JOIN graphs
    ON
        calls.log_source_id = graphs.source_id
        AND calls.compile_id = graphs.compile_id
        AND calls.graph_index = graphs.graph_index;
