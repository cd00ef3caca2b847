-- Graphs for which torch.compile generated code, from a compile log.
-- One row: a graph.
CREATE TABLE staged_graphs (
    source_id INTEGER,
    compiled_graph_id INTEGER,
    ordinal BIGINT,
    compile_id VARCHAR,
    attempt INTEGER,
    reset INTEGER,
    key VARCHAR,
    aot_id VARCHAR,
    has_origins BOOLEAN
);
