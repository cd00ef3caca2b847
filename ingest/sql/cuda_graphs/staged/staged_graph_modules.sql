-- Rows of `module_tree` from traces of captures.
-- One row: a module inside the modules around it.
CREATE TABLE staged_graph_modules (
    source_id INTEGER,
    module_id BIGINT,
    parent_id BIGINT,
    module VARCHAR,
    name VARCHAR,
    class VARCHAR,
    depth INTEGER,
    around BIGINT[]
);
