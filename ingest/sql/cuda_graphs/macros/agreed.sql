-- `agreed(value)`: the value that all rows of a group have; null if they differ or one has none.
CREATE MACRO agreed(value) AS CASE
    WHEN count(value) = count(*) AND min(value) = max(value) THEN min(value)
END;
