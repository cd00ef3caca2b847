-- `valid_ns(ns)`: a time, or null for 0 and for times that cannot be (up to 2096).
CREATE MACRO valid_ns(ns) AS CASE WHEN ns BETWEEN 1 AND 4000000000000000000 THEN ns END;
