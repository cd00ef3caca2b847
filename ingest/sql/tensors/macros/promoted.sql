-- `promoted(shapes, sizes, types, texts)`: the size of an element of the result of an elementwise
-- operator, bytes, from the lists `d`, `s`, `t` and `c` of `operator_formulas` for its operands.
-- The result is complex, floating-point, integer or boolean: the first of these that occurs among
-- the operands. Of the operands of that kind, the widest one with axes decides; without one, the
-- widest one without axes; without one, the number: then the size is that of torch's default type.
-- Null if a shape or the type of a tensor is unknown. Source: torch.result_type.
CREATE MACRO promoted(shapes, sizes, types, texts) AS CASE
    WHEN
        len(list_filter(
            list_zip(shapes, sizes),
            LAMBDA operand: len(operand[1]) = 0 OR (len(operand[1]) > 0 AND operand[2] > 0)
        )) = len(shapes)
        THEN list_max(list_transform(
            list_zip(
                shapes,
                sizes,
                types,
                coalesce(texts, []),
                list_transform(types, LAMBDA type: dtype_of(type))
            ),
            LAMBDA operand: CASE
                WHEN operand[2] > 0
                    THEN [
                        CASE
                            WHEN starts_with(operand[5], 'complex') THEN 9
                            WHEN contains(operand[5], 'float') THEN 6
                            WHEN operand[5] <> 'bool' THEN 3
                            ELSE 0
                        END + if(len(operand[1]) > 0, 2, 1),
                        operand[2]
                    ]
                WHEN
                    operand[3] = 'Int'
                    OR operand[5] = 'int64'
                    OR regexp_full_match(operand[4], '-?[0-9]+')
                    THEN [3, 8]
                WHEN operand[3] = 'Bool' OR operand[4] IN ('True', 'False') THEN [0, 1]
                ELSE [6, 4]
            END
        ))[2]
END;
