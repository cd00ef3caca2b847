-- `sizes_text(input_dims)`: the sizes of the tensors among an operator's inputs as text, for
-- example `16×64, 64×5`. Of a list of tensors, the first two: `[512×512, 1024, … of 300]`.
CREATE MACRO sizes_text(input_dims) AS array_to_string(
    list_transform(
        list_filter(
            from_json(input_dims, '["VARCHAR"]'),
            LAMBDA sizes: sizes <> '[]' AND starts_with(sizes, '[')
        ),
        LAMBDA sizes: if(
            starts_with(sizes, '[['),
            '['
            || replace(
                array_to_string(
                    list_transform(
                        list_slice(from_json(sizes, '["VARCHAR"]'), 1, 2),
                        LAMBDA tensor: trim(replace(tensor, ',', '×'), '[]')
                    ),
                    ', '
                ),
                '× ',
                '×'
            )
            || CASE
                WHEN json_array_length(sizes) > 2
                    THEN format(', … of {:,}', json_array_length(sizes))
                ELSE ''
            END
            || ']',
            trim(replace(replace(sizes, ', ', '×'), ',', '×'), '[]')
        )
    ),
    ', '
);
