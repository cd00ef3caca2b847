-- `if_wanted(mask, number, bytes)`: the bytes if a recorded mask, such as `[True, False]`, wants
-- the result of this number, and 0 if not. Null if the mask is not recorded.
CREATE MACRO if_wanted(mask, number, bytes) AS CASE
    WHEN try_cast(mask AS BOOLEAN[])[number] THEN bytes
    WHEN NOT try_cast(mask AS BOOLEAN[])[number] THEN 0
END;
