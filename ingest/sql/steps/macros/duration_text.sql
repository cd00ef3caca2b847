-- `duration_text(ns)`: a duration with three significant digits in µs, ms or s: `12.3 ms`.
CREATE MACRO duration_text(ns) AS CASE
    WHEN abs(ns) >= 999_500_000 THEN three_digits(ns / 1e9) || ' s'
    WHEN abs(ns) >= 999_500 THEN three_digits(ns / 1e6) || ' ms'
    ELSE three_digits(ns / 1e3) || ' µs'
END;
