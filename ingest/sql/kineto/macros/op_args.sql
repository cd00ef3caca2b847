-- `op_args(op)`: the columns of a row of `ops` as the profiler writes them into the arguments of an
-- event (JSON).
CREATE MACRO op_args(op) AS json_merge_patch('{}', json_object(
    'Input Dims', op.input_dims::JSON,
    'Input type', op.input_types::JSON,
    'Input Strides', op.input_strides::JSON,
    'Concrete Inputs', op.concrete_inputs::JSON,
    'Sequence number', op.sequence
));
