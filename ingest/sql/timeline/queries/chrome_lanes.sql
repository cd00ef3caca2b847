-- Threads of rank $rank of run $run with events that cross others of the thread. For the call tree,
-- such an event ends at the start of a later one. On all other threads, the time inside the events
-- of a depth is that of the events of the next depth.
-- One row: the number of a thread.
WITH sums AS (
    SELECT
        hash(pid, tid) AS lane,
        depth,
        sum(dur_ns) AS dur_ns,
        sum(dur_ns - self_ns) AS inside_ns
    FROM events
    WHERE run_id = $run AND rank = $rank AND depth IS NOT NULL
    GROUP BY ALL
)

SELECT DISTINCT sums.lane
FROM sums
LEFT JOIN sums AS inner_sums
    ON sums.lane = inner_sums.lane AND inner_sums.depth = sums.depth + 1
WHERE sums.inside_ns <> coalesce(inner_sums.dur_ns, 0);
