-- The events of rank $rank of run $run from $since_ns to $until_ns, for a Chrome trace whose times
-- count from $origin_ns. $shortest_ns is as in `events_between`, $interval_number is as in
-- `chrome_pid`, and $crossing_ids and $tracks are as in `chrome_crossing`. The arguments of events
-- of $other_sources, which are not such traces, get what other columns hold.
-- One row: an event, as JSON after a comma.
WITH
crossing AS (
    SELECT
        unnest($crossing_ids::BIGINT[]) AS event_id,
        unnest($tracks::BIGINT[]) AS track
),

of_others AS (
    SELECT event_id, kernel_args(kernels) AS args
    FROM kernels
    WHERE run_id = $run AND source_id IN (SELECT unnest($other_sources::INTEGER[]))
    UNION ALL
    SELECT event_id, op_args(ops) AS args
    FROM ops
    WHERE run_id = $run AND source_id IN (SELECT unnest($other_sources::INTEGER[]))
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
        ',"args":' || if(
            list_contains($other_sources::INTEGER[], found.source_id),
            joined_args(
                json_merge_patch(
                    coalesce(of_others.args, '{}'),
                    link_args(found.correlation, found.external_id)
                ),
                coalesce(found.args, '{}')
            ),
            found.args
        ),
        '}'
    ) AS text
FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns) AS found
LEFT JOIN crossing ON found.event_id = crossing.event_id
LEFT JOIN of_others ON found.event_id = of_others.event_id;
