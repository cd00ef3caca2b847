-- `given_rate(text)`: a peak or bandwidth from a tag, in 10¹² per second; null unless the text is a
-- number between 10⁻⁶ and 10⁶.
CREATE MACRO given_rate(text) AS CASE
    WHEN try_cast(text AS DOUBLE) BETWEEN 1e-6 AND 1e6 THEN try_cast(text AS DOUBLE)
END;
