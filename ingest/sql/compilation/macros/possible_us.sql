-- `possible_us(us)`: any number of microseconds as a whole one, from 0 up to the year 2096; else
-- null.
CREATE MACRO possible_us(us) AS CASE WHEN us BETWEEN 0 AND 4e15 THEN round(us)::BIGINT END;
