-- `broadcast(a, b)`: the shape of the result of an elementwise operator on tensors of two shapes,
-- `[]` for a number. A size of 1 is repeated. Null if a shape is unknown or if they do not fit.
CREATE MACRO broadcast(a, b) AS list_transform(
    [struct_pack(a := a, b := b)],
    LAMBDA pair: CASE
        WHEN pair['a'] IS NOT NULL AND pair['b'] IS NOT NULL THEN list_transform(
            list_zip(
                list_concat(
                    list_resize([]::DOUBLE[], greatest(len(pair['b']) - len(pair['a']), 0), 1),
                    pair['a']
                ),
                list_concat(
                    list_resize([]::DOUBLE[], greatest(len(pair['a']) - len(pair['b']), 0), 1),
                    pair['b']
                )
            ),
            LAMBDA sizes: CASE
                WHEN sizes[1] = 1 OR sizes[1] = sizes[2] THEN sizes[2]
                WHEN sizes[2] = 1 THEN sizes[1]
            END
        )
    END
)[1];
