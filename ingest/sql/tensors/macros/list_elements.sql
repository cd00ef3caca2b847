-- `list_elements(shapes)`: the number of elements of all tensors of a list; null if the list is
-- empty or if one of them is unknown.
CREATE MACRO list_elements(shapes) AS CASE
    WHEN len(list_filter(shapes, LAMBDA sizes: elements(sizes) IS NOT NULL)) = len(shapes)
        THEN list_sum(list_transform(shapes, LAMBDA sizes: elements(sizes)))
END;
