-- Nodes of the graphs: of the user's program (stage `program`), and as they were lowered (`aten`).
-- One row: a node.
-- Paths: file (without_place), code (text_without_places)
CREATE TABLE staged_nodes (
    source_id INTEGER,
    graph_id INTEGER,
    stage VARCHAR,
    position INTEGER,
    node VARCHAR,
    target VARCHAR,
    shape VARCHAR,
    file VARCHAR,
    line INTEGER,
    function VARCHAR,
    code VARCHAR
);
