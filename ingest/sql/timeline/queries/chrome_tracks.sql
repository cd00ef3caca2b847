-- Tracks for the steps, for the idle time of each device, and for the exported part of the
-- recording, in a separate process $pid. Each interval is a pair of begin and end events, because
-- `ingest add` imports only complete events as recorded ones. Kernels are not named, because
-- Perfetto's search for a kernel would find the gaps too.
-- One row: an event, as JSON after a comma, in time order.
WITH
intervals AS (
    SELECT 'steps' AS track, concat('step ', step) AS name, NULL AS args, start_ns, dur_ns
    FROM steps
    WHERE run_id = $run AND rank = $rank AND step IS NOT NULL
    UNION ALL
    SELECT
        'exported part' AS track,
        'outside it, only events that overlap it' AS name,
        NULL AS args,
        $since_ns AS start_ns,
        $until_ns - $since_ns AS dur_ns
    WHERE NOT $is_whole AND $since_ns > -$ever_ns AND $until_ns < $ever_ns
    UNION ALL
    SELECT
        concat('idle time of device ', device) AS track,
        cause AS name,
        json_object('host operator', host_op, 'Python frame', host_frame) AS args,
        start_ns,
        dur_ns
    FROM bubbles
    WHERE run_id = $run AND rank = $rank
    UNION ALL
    SELECT 'idle time of the host' AS track, part AS name, NULL AS args, start_ns, dur_ns
    FROM host_stretches_between($run, $rank, $since_ns, $until_ns)
    WHERE
        is_idle
        AND NOT EXISTS (FROM device_time WHERE run_id = $run AND rank = $rank)
),

shown AS (
    SELECT
        *,
        (dense_rank() OVER (
            ORDER BY track = 'steps' DESC, track = 'exported part' DESC, track
        ))::VARCHAR AS tid
    FROM intervals
    WHERE start_ns < $until_ns AND start_ns + dur_ns > $since_ns AND dur_ns > 0
),

marks AS (
    SELECT
        start_ns AS time_ns,
        2 AS ordinal_in_time,
        tid,
        concat('"ph":"B","name":', to_json(name), ',"args":' || args) AS fields
    FROM shown
    UNION ALL
    SELECT start_ns + dur_ns AS time_ns, 1 AS ordinal_in_time, tid, '"ph":"E"' AS fields
    FROM shown
    UNION ALL
    SELECT DISTINCT
        $origin_ns AS time_ns,
        0 AS ordinal_in_time,
        tid,
        concat('"ph":"M","name":"thread_name","args":{"name":', to_json(track), '}') AS fields
    FROM shown
)

SELECT
    concat(
        e',\n{"cat":"tracehouse","pid":',
        $pid,
        ',"tid":',
        tid,
        ',"ts":',
        chrome_us(greatest(0, time_ns - $origin_ns)),
        ',',
        fields,
        '}'
    ) AS text
FROM marks
ORDER BY time_ns, ordinal_in_time, tid;
