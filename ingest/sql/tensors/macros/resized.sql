-- `resized(input, sizes, scales)`: the sizes along its last axes to which a tensor is resized, from
-- its shape, and the recorded sizes or, if the call names none, factors. Null if neither is
-- recorded as numbers.
CREATE MACRO resized(input, sizes, scales) AS CASE
    WHEN sizes <> '' THEN try_cast(sizes AS DOUBLE[])
    WHEN sizes = '' AND input IS NOT NULL THEN list_transform(
        list_zip(
            list_slice(input, len(input) - len(try_cast(scales AS DOUBLE[])) + 1, len(input)),
            try_cast(scales AS DOUBLE[])
        ),
        LAMBDA axis: floor(axis[1] * axis[2])
    )
END;
