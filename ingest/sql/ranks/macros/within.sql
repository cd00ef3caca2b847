-- `within(number, lowest, highest)`: a recorded number, or null if it is out of range. Files may
-- hold anything, and sums and products must not overflow.
CREATE MACRO within(number, lowest, highest) AS
CASE WHEN number BETWEEN lowest AND highest THEN number END;
