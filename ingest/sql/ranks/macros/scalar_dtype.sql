-- `scalar_dtype(name)`: the name in torch of a type that a collective records, such as `float32`
-- for `Float`. Null if it is unknown. Source: `c10/core/ScalarType.h`.
CREATE MACRO scalar_dtype(name) AS CASE name
    WHEN 'Byte' THEN 'uint8'
    WHEN 'Char' THEN 'int8'
    WHEN 'ComplexFloat' THEN 'complex64'
    WHEN 'ComplexDouble' THEN 'complex128'
    ELSE coalesce(dtype_of(name), dtype_of(lower(name)))
END;
