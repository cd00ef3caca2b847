-- Instants, arrows and counters as recorded, beside the events of `chrome_events`. The end of an
-- arrow is there if the event at it is. $flows is added to the ids of arrows: those of different
-- ranks must differ. What this program added to an earlier export is left out.
-- One row: an event, as JSON after a comma.
WITH
recorded AS (
    SELECT
        *,
        phase IN ('s', 't', 'f') AS is_arrow
    FROM other_events
    WHERE
        run_id = $run
        AND rank = $rank
        AND time_ns IS NOT NULL
        AND phase <> 'M'
        AND category IS DISTINCT FROM 'tracehouse'
),

arrows AS (
    SELECT event_id, pid, tid, time_ns
    FROM recorded
    WHERE is_arrow
),

present AS (
    SELECT DISTINCT arrows.event_id
    FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns) AS found
    INNER JOIN arrows
        ON
            found.pid = arrows.pid
            AND found.tid = arrows.tid
            AND found.start_ns = arrows.time_ns
),

kept AS (
    SELECT * FROM recorded WHERE event_id IN (SELECT event_id FROM present)
    UNION ALL
    SELECT *
    FROM recorded
    WHERE NOT is_arrow AND time_ns BETWEEN $since_ns AND $until_ns
)

SELECT
    e',\n' || json_merge_patch(event, concat(
        '{"pid":',
        chrome_pid(pid, $place),
        ',"ts":',
        chrome_us(time_ns - $origin_ns),
        ',"id":' || (try_cast(id AS BIGINT) + $flows::BIGINT),
        '}'
    ))::VARCHAR AS text
FROM kept;
