-- The nodes of the user's program that each lowered node comes from.
-- One row: a lowered node.
CREATE TABLE staged_origins (
    source_id INTEGER, compiled_graph_id INTEGER, aten_node VARCHAR, nodes VARCHAR[]
);
