-- `joined_args(one, other)`: the text of a JSON object with the keys of two others, also keys whose
-- value is null.
CREATE MACRO joined_args(one, other) AS CASE
    WHEN one::VARCHAR = '{}' THEN other::VARCHAR
    WHEN other::VARCHAR = '{}' THEN one::VARCHAR
    ELSE concat((one::VARCHAR)[:-2], ',', (other::VARCHAR)[2:])
END;
