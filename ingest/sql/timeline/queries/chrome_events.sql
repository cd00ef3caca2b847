-- The events of rank $rank of run $run from $since_ns to $until_ns, for a Chrome trace whose times
-- count from $origin_ns. $shortest_ns is as in `events_between`, $interval_number is as in
-- `chrome_pid`, and $crossing_ids and $tracks are as in `chrome_crossing`.
-- One row: an event, as JSON after a comma.
WITH crossing AS (
    SELECT
        unnest($crossing_ids::BIGINT[]) AS event_id,
        unnest($tracks::BIGINT[]) AS track
)

SELECT
    concat(
        e',\n{"ph":"X","cat":',
        coalesce(to_json(found.recorded_category)::VARCHAR, 'null'),
        ',"name":',
        to_json(found.name),
        ',"pid":',
        chrome_pid(found.pid, $interval_number),
        ',"tid":',
        chrome_tid(found.tid, crossing.track, found.category),
        ',"ts":',
        chrome_us(found.start_ns - $origin_ns),
        ',"dur":',
        chrome_us(found.dur_ns),
        ',"args":' || found.args,
        '}'
    ) AS text
FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns) AS found
LEFT JOIN crossing ON found.event_id = crossing.event_id;
