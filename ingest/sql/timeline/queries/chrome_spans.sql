-- The events of `chrome_events` by their thread or stream, each from outermost to innermost.
-- One row: an event.
SELECT
    event_id,
    hash(pid, tid) AS lane,
    start_ns,
    start_ns + dur_ns AS end_ns
FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns)
ORDER BY lane, start_ns, end_ns DESC, event_id;
