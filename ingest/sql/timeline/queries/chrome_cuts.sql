-- Events of rank $rank of run $run that cross a later one of their thread. For the call tree, such
-- an event ends at the start of the later one, so it lasts longer than its own time and the
-- durations of the events directly inside. It is missing if these were cut by as much or more; one
-- of them, or one inside them, is in the result then. The sums by depth find the threads with such
-- events.
-- One row: an event, with the number of its thread.
WITH
sums AS (
    SELECT
        hash(pid, tid) AS lane,
        depth,
        sum(dur_ns) AS dur_ns,
        sum(dur_ns - self_ns) AS inside_ns
    FROM events
    WHERE run_id = $run AND rank = $rank AND depth IS NOT NULL
    GROUP BY ALL
),

threads AS (
    SELECT DISTINCT sums.lane
    FROM sums
    LEFT JOIN sums AS inner_sums
        ON sums.lane = inner_sums.lane AND inner_sums.depth = sums.depth + 1
    WHERE sums.inside_ns <> coalesce(inner_sums.dur_ns, 0)
),

inside AS (
    SELECT parent_id AS event_id, sum(dur_ns) AS dur_ns
    FROM events
    WHERE
        run_id = $run
        AND rank = $rank
        AND parent_id IS NOT NULL
        AND hash(pid, tid) IN (FROM threads)
    GROUP BY ALL
)

SELECT hash(events.pid, events.tid) AS lane, events.start_ns + events.dur_ns AS end_ns
FROM events
LEFT JOIN inside ON events.event_id = inside.event_id
WHERE
    events.run_id = $run
    AND events.rank = $rank
    AND hash(events.pid, events.tid) IN (FROM threads)
    AND events.dur_ns - events.self_ns > coalesce(inside.dur_ns, 0);
