-- `printed_dtype(type)`: the name in torch of a type that torch.compile prints: `bfloat16` for
-- `bf16[5, 32]`. Source: torch.utils._dtype_abbrs.
CREATE MACRO printed_dtype(type) AS CASE regexp_extract(type, '^([a-z]+)\d', 1)
    WHEN 'b' THEN 'bool'
    WHEN 'f' THEN 'float' || regexp_replace(regexp_extract(type, '^f(\w+)', 1), '^8(\w)', '8_\1')
    WHEN 'bf' THEN 'bfloat' || regexp_extract(type, '\d+')
    WHEN 'i' THEN 'int' || regexp_extract(type, '\d+')
    WHEN 'u' THEN 'uint' || regexp_extract(type, '\d+')
    WHEN 'c' THEN 'complex' || regexp_extract(type, '\d+')
END;
