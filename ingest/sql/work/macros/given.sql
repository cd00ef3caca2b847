-- `given(type, bytes)`: the bytes of an argument that may be absent: 0 if it is.
CREATE MACRO given(type, bytes) AS CASE WHEN coalesce(type, '') = '' THEN 0 ELSE bytes END;
