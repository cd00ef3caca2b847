-- The events of rank $rank of run $run from $since_ns to $until_ns, for a Chrome trace whose times
-- count from $origin_ns. $shortest_ns is as in `events_between`, and $interval_number is as in
-- `chrome_pid`.
-- One row: an event, as JSON after a comma.
SELECT
    concat(
        e',\n{"ph":"X","cat":',
        coalesce(to_json(recorded_category)::VARCHAR, 'null'),
        ',"name":',
        to_json(name),
        ',"pid":',
        chrome_pid(pid, $interval_number),
        ',"tid":',
        chrome_id(tid),
        ',"ts":',
        chrome_us(start_ns - $origin_ns),
        ',"dur":',
        chrome_us(dur_ns),
        ',"args":' || args,
        '}'
    ) AS text
FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns);
