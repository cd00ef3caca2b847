-- `torch_shapes(input_dims)`: recorded shapes as torch's tables show them, with `[]` for a list of
-- tensors.
CREATE MACRO torch_shapes(input_dims) AS concat('[', array_to_string(
    list_transform(
        from_json(input_dims, '["JSON"]'),
        LAMBDA dims: CASE
            WHEN json_type(dims, '$[0]') = 'ARRAY' THEN '[]'
            ELSE replace(dims::VARCHAR, ',', ', ')
        END
    ),
    ', '
), ']');
