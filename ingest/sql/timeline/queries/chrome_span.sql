-- Start and end of the events of `chrome_events`. Recorded instants inside the exported range also
-- count for the start.
-- One row: both ends in Unix time, ns; null if there is no event.
WITH
events_span AS (
    SELECT min(start_ns) AS start_ns, max(start_ns + dur_ns) AS end_ns
    FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns)
),

others_span AS (
    SELECT min(time_ns) AS start_ns
    FROM other_events
    WHERE
        run_id = $run
        AND rank = $rank
        AND phase NOT IN ('M', 's', 't', 'f')
        AND category IS DISTINCT FROM 'tracehouse'
        AND time_ns BETWEEN $since_ns AND $until_ns
)

SELECT
    if(events_span.start_ns IS NULL, NULL, least(events_span.start_ns, others_span.start_ns))
        AS start_ns,
    events_span.end_ns
FROM events_span
CROSS JOIN others_span;
