-- `broadcast(a, b)`: the shape of the result of an elementwise operator on tensors of two shapes,
-- `[]` for a number. A size of 1 is repeated. Null if a shape is unknown or if they do not fit.
CREATE MACRO broadcast(a, b) AS CASE
    WHEN a IS NOT NULL AND b IS NOT NULL THEN list_transform(
        list_zip(
            list_concat(list_resize([]::DOUBLE[], greatest(len(b) - len(a), 0), 1), a),
            list_concat(list_resize([]::DOUBLE[], greatest(len(a) - len(b), 0), 1), b)
        ),
        LAMBDA sizes: CASE
            WHEN sizes[1] = 1 OR sizes[1] = sizes[2] THEN sizes[2]
            WHEN sizes[2] = 1 THEN sizes[1]
        END
    )
END;
