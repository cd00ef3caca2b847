-- `seconds_to_ns(seconds)`: a time in ns; null where it is none, or longer than three centuries.
CREATE MACRO seconds_to_ns(seconds) AS CASE
    WHEN isfinite(seconds) AND abs(seconds) < 9.2e9 THEN round(seconds * 1e9)::BIGINT
END;
