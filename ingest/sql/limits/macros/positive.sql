-- `positive(value)`: the value if it is a number above 0, or else null.
CREATE MACRO positive(value) AS CASE WHEN isfinite(value) AND value > 0 THEN value END;
