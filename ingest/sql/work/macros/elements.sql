-- `elements(sizes)`: the number of elements of a tensor with this shape, DOUBLE so that nothing
-- overflows; 1 for an empty list. Null if the list or one of the sizes is null, or no natural
-- number. `list_product` would skip nulls.
CREATE MACRO elements(sizes) AS CASE
    WHEN len(list_filter(sizes, LAMBDA size: size >= 0 AND size % 1 = 0)) = len(sizes)
        THEN coalesce(list_product(sizes), 1)
END;
