-- `whole_number(text)`: a text of digits as an integer; null for any other text, or if the number
-- is too large.
CREATE MACRO whole_number(text) AS CASE
    WHEN regexp_full_match(text, '[0-9]+') THEN try_cast(text AS BIGINT)
END;
