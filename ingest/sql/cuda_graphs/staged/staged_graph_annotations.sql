-- Annotations of the nodes of CUDA graphs, in files of their own.
-- One row: a node.
CREATE TABLE staged_graph_annotations (
    source_id INTEGER,
    graph_node_id UBIGINT,
    label VARCHAR,
    module VARCHAR
);
