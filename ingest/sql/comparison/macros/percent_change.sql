-- `percent_change(change, base)`: the change in percent of the absolute value of `base`; null if
-- that is 0.
CREATE MACRO percent_change(change, base) AS 100.0 * change / nullif(abs(base), 0);
