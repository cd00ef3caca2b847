-- `elements(sizes)`: the number of elements of a tensor with this shape, DOUBLE so that nothing
-- overflows; 1 for an empty list. Null if the list or one of the sizes is null, or no natural
-- number. `list_product` would skip nulls.
CREATE MACRO elements(sizes) AS list_transform(
    [sizes],
    LAMBDA known: CASE
        WHEN len(list_filter(known, LAMBDA size: size >= 0 AND size % 1 = 0)) = len(known)
            THEN coalesce(list_product(known), 1)
    END
)[1];
