-- `share_at(limit_ns, ns)`: the time that the rows of a group take at a limit, as a share of the
-- time that they took, percent. Rows whose limit is unknown do not count.
CREATE MACRO share_at(limit_ns, ns) AS
100 * sum(limit_ns) / nullif(sum(ns) FILTER (WHERE limit_ns IS NOT NULL), 0);
