-- From when to when the events of `chrome_events` last.
-- One row: both ends in Unix time, ns; null where there is no event.
SELECT min(start_ns) AS start_ns, max(start_ns + dur_ns) AS end_ns
FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns);
