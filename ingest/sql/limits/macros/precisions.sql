-- `precisions()`: the precisions with a peak, as in `device_models`.
CREATE MACRO precisions() AS [
    'float64_matrix', 'float64', 'float32', 'tf32', 'float16', 'bfloat16', 'float8', 'int8',
    'float4'
];
