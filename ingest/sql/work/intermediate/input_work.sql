-- The work of operators with these inputs.
-- One row: an operator with inputs, with columns of `op_work`.
-- Filled by: compute_work(work_inputs, formulas)
CREATE TABLE input_work (
    input_id BIGINT,
    flops BIGINT,
    bytes_read BIGINT,
    bytes_written BIGINT,
    bytes_at_most BIGINT,
    dtype VARCHAR
);
