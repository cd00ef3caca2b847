-- `us_to_ns(us)`: a DOUBLE of microseconds in nanoseconds, exact below 2⁴³ µs. The fraction is
-- multiplied apart: with the whole number, the product can have more digits than a double.
CREATE MACRO us_to_ns(us) AS
trunc(us)::BIGINT * 1000 + round((us - trunc(us)) * 1000)::BIGINT;
