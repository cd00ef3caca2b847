-- `whole_number(text)`: a number of things; null for a text that is none, or is too large.
CREATE MACRO whole_number(text) AS CASE
    WHEN regexp_full_match(text, '[0-9]+') THEN try_cast(text AS BIGINT)
END;
