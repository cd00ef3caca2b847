-- `number_bytes(dtype)`: the size of an element of a type that an argument names, bytes. Traces
-- record it as the number in `c10/core/ScalarType.h`. Null if it is none.
CREATE MACRO number_bytes(dtype) AS CASE
    WHEN dtype IN ('0', '1', '11', '23', '24', '25', '26', '44', '45') THEN 1
    WHEN dtype IN ('2', '5', '15', '27') THEN 2
    WHEN dtype IN ('3', '6', '8', '28') THEN 4
    WHEN dtype IN ('4', '7', '9', '29') THEN 8
    WHEN dtype = '10' THEN 16
END;
