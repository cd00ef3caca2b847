-- `elements(dims)`: the number of elements of a tensor of this shape; null where it is not known.
CREATE MACRO elements(dims) AS CASE WHEN dims IS NOT NULL THEN coalesce(list_product(dims), 1) END;
