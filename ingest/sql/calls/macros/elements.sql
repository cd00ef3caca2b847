-- `elements(dims)`: the number of elements of a tensor with this shape; null if the shape is
-- unknown.
CREATE MACRO elements(dims) AS CASE WHEN dims IS NOT NULL THEN coalesce(list_product(dims), 1) END;
