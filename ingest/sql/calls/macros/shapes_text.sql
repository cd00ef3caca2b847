-- `shapes_text(input_dims, input_types)`: the tensors among an operator's inputs as text, for
-- example `bf16 [32, 77, 768], i64 [1, 77]`; null if no shapes were recorded.
CREATE MACRO shapes_text(input_dims, input_types) AS if(input_dims IS NULL, NULL, array_to_string(
    list_transform(
        list_filter(
            list_zip(
                from_json(input_dims, '["VARCHAR"]'),
                coalesce(from_json(input_types, '["VARCHAR"]'), []::VARCHAR[])
            ),
            -- Names of types that are no tensors begin with a capital letter.
            LAMBDA input: input[1] <> '[]' OR NOT regexp_matches(input[2], '^([A-Z]|$)')
        ),
        LAMBDA input: concat_ws(' ', type_text(input[2]), replace(input[1], ',', ', '))
    ),
    ', '
));
