-- `bus_factor(kind, ranks)`: what the algorithm bandwidth of a collective is multiplied by to get
-- its bus bandwidth. Null if it is undefined. Source: `doc/PERFORMANCE.md` of nccl-tests.
CREATE MACRO bus_factor(kind, ranks) AS CASE
    WHEN kind = 'all_reduce' THEN 2 * (ranks - 1) / nullif(ranks, 0)
    WHEN kind IN ('all_gather', 'reduce_scatter', 'all_to_all') THEN (ranks - 1) / nullif(ranks, 0)
    WHEN kind IN ('broadcast', 'reduce', 'send', 'recv') THEN 1
END;
