-- `us_to_ns(us)`: converts a DOUBLE from microseconds to nanoseconds, exact below 2⁴³ µs. The
-- fraction is multiplied separately, because the product with the integer part can have more digits
-- than a double.
CREATE MACRO us_to_ns(us) AS
trunc(us)::BIGINT * 1000 + round((us - trunc(us)) * 1000)::BIGINT;
