-- `sum_bytes(type, size, dtype)`: the size of an element of a sum or product, bytes, from the
-- recorded type of the input, the size of its elements, and the type that the call names, if any.
-- Sums of integers are of int64.
CREATE MACRO sum_bytes(type, size, dtype) AS CASE
    WHEN coalesce(dtype, '') = '' AND regexp_full_match(dtype_of(type), 'bool|u?int.*') THEN 8
    ELSE named_bytes(dtype, size)
END;
