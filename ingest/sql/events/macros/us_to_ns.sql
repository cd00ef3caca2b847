-- `us_to_ns(us)`: a DOUBLE of microseconds in whole nanoseconds. Exact below 2⁴³ µs: the fraction is
-- multiplied by itself, since the product of the whole number may be no double and be rounded up.
CREATE MACRO us_to_ns(us) AS
trunc(us)::BIGINT * 1000 + round((us - trunc(us)) * 1000)::BIGINT;
