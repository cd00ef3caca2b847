-- `possible_us(us)`: a number of microseconds, rounded to an integer. Null unless it is between 0
-- and the year 2096.
CREATE MACRO possible_us(us) AS CASE WHEN us BETWEEN 0 AND 4e15 THEN round(us)::BIGINT END;
