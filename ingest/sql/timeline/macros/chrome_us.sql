-- `chrome_us(ns)`: nanoseconds as JSON, in microseconds with all digits.
CREATE MACRO chrome_us(ns) AS (ns * 0.001::DECIMAL(4, 3))::VARCHAR;
