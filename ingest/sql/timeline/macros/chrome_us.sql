-- `chrome_us(ns)`: nanoseconds as a JSON number of microseconds, without rounding.
CREATE MACRO chrome_us(ns) AS (ns * 0.001::DECIMAL(4, 3))::VARCHAR;
