-- Nodes of the graphs: those of the user's program (stage `program`) and the lowered ones (`aten`).
-- One row: a node.
-- Paths: filename (without_place), code (text_without_places)
CREATE TABLE staged_nodes (
    source_id INTEGER,
    compiled_graph_id INTEGER,
    stage VARCHAR,
    ordinal BIGINT,
    node VARCHAR,
    target VARCHAR,
    shape VARCHAR,
    inputs VARCHAR[],  -- type and shape of each positional argument; empty if it is no tensor
    filename VARCHAR,
    line BIGINT,
    function VARCHAR,
    code VARCHAR
);
