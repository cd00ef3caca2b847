-- A change in percent of the size of what it is a change of; null where that is 0.
CREATE MACRO percent_change(change, base) AS 100.0 * change / nullif(abs(base), 0);
