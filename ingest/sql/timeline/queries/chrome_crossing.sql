-- The further tracks of threads and streams, for events that cross others: $crossing_ids, on the
-- tracks with the numbers $tracks. Each keeps the recorded thread, so that `ingest add` reads the
-- events as recorded.
-- One row: a track, as JSON after a comma.
WITH
crossing AS (
    SELECT
        unnest($crossing_ids::BIGINT[]) AS event_id,
        unnest($tracks::BIGINT[]) AS track
),

further AS (
    SELECT DISTINCT
        chrome_pid(events.pid, $interval_number) AS pid,
        chrome_tid(events.tid, crossing.track, events.category) AS tid,
        events.tid AS recorded_tid
    FROM crossing
    INNER JOIN events ON crossing.event_id = events.event_id
    WHERE events.run_id = $run AND events.rank = $rank
)

SELECT
    concat(
        e',\n{"ph":"M","cat":"tracehouse","name":"thread_name","pid":',
        pid,
        ',"tid":',
        tid,
        ',"args":',
        json_object('name', json(tid), 'tid', recorded_tid),
        '}'
    ) AS text
FROM further
ORDER BY ALL;
