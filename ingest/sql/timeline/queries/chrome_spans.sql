-- The events of `chrome_events` on threads and streams where some may cross, each from outermost to
-- innermost. If a thread's events nest, none overlaps the event of the same depth before it.
-- One row: an event.
WITH
spans AS (
    SELECT
        event_id,
        hash(pid, tid) AS lane,
        depth,
        start_ns,
        start_ns + dur_ns AS end_ns
    FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns)
),

compared AS (
    SELECT lane, start_ns, lag(end_ns) OVER before AS before_ns
    FROM spans
    WINDOW before AS (PARTITION BY lane, depth ORDER BY start_ns, end_ns DESC)
),

crossed AS (SELECT DISTINCT lane FROM compared WHERE before_ns > start_ns)

SELECT event_id, lane, start_ns, end_ns
FROM spans
SEMI JOIN crossed USING (lane)
ORDER BY lane, start_ns, end_ns DESC, event_id;
