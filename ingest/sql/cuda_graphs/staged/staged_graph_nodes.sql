-- Rows of `graph_nodes` from traces of captures, which are read apart from the run's own traces.
-- One row: a kernel, copy or memset that a graph recorded.
CREATE TABLE staged_graph_nodes (
    source_id INTEGER,
    recorded_id BIGINT,
    capture_id BIGINT,
    is_forked BOOLEAN,
    ordinal BIGINT,
    kind VARCHAR,
    kernel VARCHAR,
    op VARCHAR,
    top_op VARCHAR,
    top_op_ordinal BIGINT,
    module_id BIGINT,
    input_dims VARCHAR,
    input_types VARCHAR,
    concrete_inputs VARCHAR
);
