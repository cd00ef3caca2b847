-- What the files record about calls of the host, in addition to the columns of `staged`. Inputs are
-- JSON lists, as in `ops`.
-- One row: an operator, an annotation or a call of a runtime.
CREATE TABLE staged_calls (
    source_id INTEGER,
    event_id BIGINT,
    input_dims VARCHAR,
    input_types VARCHAR,
    input_strides VARCHAR,
    concrete_inputs VARCHAR,
    sequence BIGINT,  -- shared by an operator and its backward
    record_id BIGINT,  -- number of the call in execution traces of its process
    kernel VARCHAR  -- kernel that a runtime launches, or records in a CUDA graph
);
