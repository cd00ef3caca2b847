-- `short_op(name)`: the common name of an operator and of its forms in PyTorch programs: `add` for
-- `aten::add_`, `operator.iadd` and `+`; `to` for `aten::to` and `.float()`.
CREATE MACRO short_op(name) AS CASE regexp_extract(name, '([^.:]*?)_*$', 1)
    WHEN 'truediv' THEN 'div'
    WHEN 'itruediv' THEN 'div'
    WHEN 'iadd' THEN 'add'
    WHEN 'isub' THEN 'sub'
    WHEN 'imul' THEN 'mul'
    WHEN 'float' THEN 'to'
    WHEN 'double' THEN 'to'
    WHEN 'half' THEN 'to'
    WHEN 'bfloat16' THEN 'to'
    WHEN 'long' THEN 'to'
    WHEN 'int' THEN 'to'
    WHEN 'bool' THEN 'to'
    WHEN 'type' THEN 'to'
    WHEN 'type_as' THEN 'to'
    WHEN 'cuda' THEN 'to'
    WHEN '' THEN name
    ELSE regexp_extract(name, '([^.:]*?)_*$', 1)
END;
