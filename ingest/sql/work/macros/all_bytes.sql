-- `all_bytes(b, t)`: the bytes of all tensors among the arguments; null if those of one are
-- unknown.
CREATE MACRO all_bytes(b, t) AS CASE
    WHEN
        len(list_filter(
            list_zip(b, t),
            LAMBDA argument: argument[1] IS NULL
            AND NOT coalesce(argument[2] IN ('', 'Scalar'), FALSE)
        )) = 0
        THEN list_sum(b)
END;
