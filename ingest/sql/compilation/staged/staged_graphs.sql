-- Graphs that torch.compile generated code for, as a compile log records them.
-- One row: a graph.
CREATE TABLE staged_graphs (
    source_id INTEGER,
    graph_id INTEGER,
    ordinal INTEGER,
    compile_id VARCHAR,
    attempt INTEGER,
    key VARCHAR,
    aot_id VARCHAR,
    has_origins BOOLEAN
);
