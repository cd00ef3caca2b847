-- `has_odd_rows(input_dims)`: whether rows of an operator's inputs have a length that is no
-- multiple of 8, so that kernels cannot load 16 bytes of half precision at a time. A length of 1
-- does not count.
CREATE MACRO has_odd_rows(input_dims) AS len(list_filter(
    regexp_extract_all(input_dims, '(\d+)\]', 1),
    LAMBDA size: size <> '1' AND right(size, 3)::INTEGER % 8 <> 0
)) > 0;
