-- Events of rank $rank of run $run on the threads $lanes, as in `chrome_lanes`, that cross a later
-- one. Such an event was cut for the call tree, so it lasts longer than its own time and the
-- durations of the events directly inside. If those were cut by as much or more, the event itself
-- is not in the result, but an event inside it is.
-- One row: an event, with the number of its thread.
WITH
recorded AS NOT MATERIALIZED (
    SELECT
        hash(pid, tid) AS lane,
        event_id,
        parent_id,
        start_ns + dur_ns AS end_ns,
        dur_ns,
        self_ns
    FROM events
    WHERE
        run_id = $run
        AND rank = $rank
        AND depth IS NOT NULL
        AND hash(pid, tid) IN (SELECT unnest($lanes::UBIGINT[]))
),

inside AS (
    SELECT parent_id AS event_id, sum(dur_ns) AS dur_ns
    FROM recorded
    WHERE parent_id IS NOT NULL
    GROUP BY ALL
)

SELECT recorded.lane, recorded.end_ns
FROM recorded
LEFT JOIN inside ON recorded.event_id = inside.event_id
WHERE recorded.dur_ns - recorded.self_ns > coalesce(inside.dur_ns, 0);
