-- `promoted(d, s, t, c)`: the size of an element of the result of an elementwise operator, bytes, from
-- lists of its operands like those of `operator_formulas`. The result is complex, floating-point,
-- integer or boolean: the first of these that occurs among the operands. Of the operands of that
-- kind, the widest one with axes decides; without one, the widest one without axes; without one, the
-- number: then the size is that of torch's default type. Null if the type of a tensor is unknown.
-- Source: torch.result_type.
CREATE MACRO promoted(d, s, t, c) AS CASE
    WHEN NOT list_contains(list_transform(d, LAMBDA sizes: sizes IS NULL), TRUE)
        THEN list_max(list_transform(
            d,
            LAMBDA sizes, i: CASE
                WHEN s[i] IS NOT NULL
                    THEN [
                        CASE
                            WHEN starts_with(dtype_of(t[i]), 'complex') THEN 9
                            WHEN dtype_of(t[i]) LIKE '%float%' THEN 6
                            WHEN dtype_of(t[i]) <> 'bool' THEN 3
                            ELSE 0
                        END + if(len(sizes) > 0, 2, 1),
                        s[i]
                    ]
                WHEN t[i] IN ('double', 'Double') OR c[i] SIMILAR TO '-?[0-9.]*([.e][0-9.+e-]*|inf)|nan'
                    THEN [6, 4]
                WHEN t[i] = 'Int' OR c[i] SIMILAR TO '-?[0-9]+' THEN [3, 8]
                ELSE [0, 1]
            END
        ))[2]
END;
