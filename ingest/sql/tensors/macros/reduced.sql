-- `reduced(sizes, axes)`: the number of elements that are left of a tensor with this shape after a
-- reduction along the recorded axes, such as `[-1]` or `-1`. Without axes, all are reduced. Null if
-- an axis does not exist.
CREATE MACRO reduced(sizes, axes) AS CASE
    WHEN trim(axes, '[]') = '' THEN 1
    WHEN
        len(list_filter(
            try_cast('[' || trim(axes, '[]') || ']' AS BIGINT[]),
            LAMBDA axis: axis >= -len(sizes) AND axis < len(sizes)
        )) = len(string_split(axes, ','))
        THEN elements(list_transform(
            list_filter(
                range(len(sizes)),
                LAMBDA place: NOT list_has_any(
                    try_cast('[' || trim(axes, '[]') || ']' AS BIGINT[]),
                    [place, place - len(sizes)]
                )
            ),
            LAMBDA place: sizes[place + 1]
        ))
END;
