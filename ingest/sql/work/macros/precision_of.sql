-- `precision_of(dtype, kind, on_matrix_cores)`: the peak of `device_peaks` that limits an operator,
-- from its type, its kind of work, and whether its kernels use tensor cores or matrix cores. Null
-- if no peak is known for the type.
CREATE MACRO precision_of(dtype, kind, on_matrix_cores) AS CASE
    WHEN
        dtype = 'float64'
        THEN if(is_product(kind) AND on_matrix_cores, 'float64_matrix', 'float64')
    WHEN NOT is_product(kind) THEN 'float32'
    WHEN dtype = 'float32' THEN if(on_matrix_cores, 'tf32', 'float32')
    WHEN dtype IN ('float16', 'bfloat16') THEN dtype
    WHEN dtype LIKE 'float8%' THEN 'float8'
    WHEN dtype LIKE 'float4%' THEN 'float4'
    WHEN dtype IN ('int8', 'uint8') THEN 'int8'
END;
