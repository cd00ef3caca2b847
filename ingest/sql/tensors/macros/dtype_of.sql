-- `dtype_of(type)`: the name of a recorded type in torch, such as `bfloat16` for `c10::BFloat16`.
-- Null for a number, a list and an unknown type. Traces record the types of C++.
CREATE MACRO dtype_of(type) AS CASE regexp_replace(type, '^(c10::|torch\.)', '')
    WHEN 'bool' THEN 'bool'
    WHEN 'unsigned char' THEN 'uint8'
    WHEN 'signed char' THEN 'int8'
    WHEN 'short' THEN 'int16'
    WHEN 'short int' THEN 'int16'
    WHEN 'int' THEN 'int32'
    WHEN 'long' THEN 'int64'
    WHEN 'long int' THEN 'int64'
    WHEN 'Float4_e2m1fn_x2' THEN 'float4_e2m1fn_x2'
    WHEN 'Float8_e4m3fn' THEN 'float8_e4m3fn'
    WHEN 'Float8_e4m3fnuz' THEN 'float8_e4m3fnuz'
    WHEN 'Float8_e5m2' THEN 'float8_e5m2'
    WHEN 'Float8_e5m2fnuz' THEN 'float8_e5m2fnuz'
    WHEN 'Float8_e8m0fnu' THEN 'float8_e8m0fnu'
    WHEN 'Half' THEN 'float16'
    WHEN 'BFloat16' THEN 'bfloat16'
    WHEN 'float' THEN 'float32'
    WHEN 'double' THEN 'float64'
    WHEN 'complex<float>' THEN 'complex64'
    WHEN 'complex<double>' THEN 'complex128'
END;
