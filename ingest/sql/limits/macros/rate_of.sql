-- `rate_of(amount, ns)`: operations or bytes of the rows of a group by their time, 10¹² per second.
-- Rows whose amount is unknown do not count.
CREATE MACRO rate_of(amount, ns) AS
sum(amount) / nullif(sum(ns) FILTER (WHERE amount IS NOT NULL), 0) / 1e3;
