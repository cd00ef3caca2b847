-- Nodes of execution traces, as recorded. `pid` is the process that wrote the file.
-- One row: a node.
-- Paths: kernel_file (without_place)
CREATE TABLE staged_execution_nodes (
    source_id INTEGER,
    pid VARCHAR,
    node_id BIGINT,
    ctrl_deps BIGINT,
    rf_id BIGINT,
    seq_id BIGINT,
    scope BIGINT,
    tid BIGINT,
    fw_tid BIGINT,
    fw_parent BIGINT,
    name VARCHAR,
    op_schema VARCHAR,
    kernel_backend VARCHAR,
    kernel_file VARCHAR,
    inputs_values JSON,
    inputs_shapes JSON,
    inputs_types JSON,
    inputs_strides JSON,
    outputs_values JSON,
    outputs_shapes JSON,
    outputs_types JSON,
    outputs_strides JSON
);
