-- The events of `chrome_events` on the threads with the numbers $lanes, and on streams where some
-- overlap; see `chrome_cuts`.
-- One row: an event. `is_on_stream` is 0 or 1.
WITH
spans AS (
    SELECT
        event_id,
        hash(pid, tid) AS lane,
        start_ns,
        start_ns + dur_ns AS end_ns,
        (depth IS NULL)::TINYINT AS is_on_stream
    FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns)
),

compared AS (
    SELECT lane, start_ns, lag(end_ns) OVER before AS before_ns
    FROM spans
    WHERE is_on_stream = 1
    WINDOW before AS (PARTITION BY lane ORDER BY start_ns, end_ns DESC)
)

SELECT event_id, lane, start_ns, end_ns, is_on_stream
FROM spans
WHERE
    (is_on_stream = 0 AND lane IN (SELECT unnest($lanes::UBIGINT[])))
    OR (is_on_stream = 1 AND lane IN (SELECT lane FROM compared WHERE before_ns > start_ns));
