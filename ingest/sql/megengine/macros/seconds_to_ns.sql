-- `seconds_to_ns(seconds)`: a time in ns; null if it is not finite, or about three centuries or
-- longer.
CREATE MACRO seconds_to_ns(seconds) AS CASE
    WHEN isfinite(seconds) AND abs(seconds) < 9.2e9 THEN round(seconds * 1e9)::BIGINT
END;
