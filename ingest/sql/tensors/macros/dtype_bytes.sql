-- `dtype_bytes(dtype)`: the size of an element of a type of torch, bytes; null if it is unknown.
CREATE MACRO dtype_bytes(dtype) AS CASE
    WHEN regexp_matches(dtype, '^(bool$|float4|float8)') THEN 1
    -- Types with fewer than 8 bits have no whole bytes.
    ELSE nullif(
        try_cast(regexp_extract(dtype, '^(?:u?int|b?float|complex)(\d+)$', 1) AS INTEGER) // 8, 0
    )
END;
