-- `printed_size(type)`: the number of elements of a tensor that torch.compile prints, for example
-- `f32[16*s2, 32]`: a factor, here 512, and the symbolic sizes to multiply it by, here `s2`, in
-- alphabetical order. Null if a size is no product.
CREATE MACRO printed_size(type) AS CASE
    WHEN regexp_full_match(type, '\w+\[(\w+((\*|, )\w+)*)?\]')
        THEN struct_pack(
            factor := coalesce(
                list_product(
                    regexp_extract_all(type, '[\[ *](\d+)', 1)::DOUBLE[]
                ),
                1
            ),
            symbols := array_to_string(
                list_sort(regexp_extract_all(type, '[\[ *]([a-z]\w*)', 1)), '*'
            )
        )
END;
