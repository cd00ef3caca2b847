-- The critical paths as tracks in process $pid: one for the host, and one for each stream on a
-- path. Arrows lead from track to track. Paths of steps that overlap in time have separate tracks.
-- The name of an interval is only its kind, because Perfetto's search for a kernel would find it
-- too.
-- One row: an event, as JSON after a comma, in time order.
WITH
intervals AS (
    SELECT
        *,
        start_ns + dur_ns AS end_ns,
        if(side = 'host', side, concat('device ' || device || ', ', lane)) AS track,
        lag(if(side = 'host', side, concat('device ' || device || ', ', lane))) OVER in_order
            AS track_before,
        lag(start_ns + dur_ns - 1) OVER in_order AS before_ns
    FROM critical_paths
    WHERE run_id = $run AND rank = $rank
    WINDOW in_order AS (PARTITION BY run_id, source_id, step ORDER BY ordinal)
),

paths AS (
    SELECT
        source_id,
        step,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns,
        row_number() OVER (ORDER BY min(start_ns), source_id) AS number
    FROM intervals
    GROUP BY source_id, step
    HAVING min(start_ns) < $until_ns AND max(end_ns) > $since_ns
),

-- Paths whose numbers differ by at least this do not overlap, so they can share a track.
apart AS (
    SELECT max(later.number - earlier.number) + 1 AS paths
    FROM paths AS later
    INNER JOIN paths AS earlier
        ON later.number >= earlier.number AND later.start_ns < earlier.end_ns
),

shown AS (
    SELECT
        intervals.*,
        paths.number % apart.paths AS track_row
    FROM intervals
    INNER JOIN paths
        ON
            intervals.source_id = paths.source_id
            AND intervals.step IS NOT DISTINCT FROM paths.step
    CROSS JOIN apart
    WHERE intervals.start_ns < $until_ns AND intervals.end_ns > $since_ns
),

tracks AS (
    SELECT
        track_row,
        track,
        1000 + row_number() OVER (ORDER BY track_row, track <> 'host', track) AS tid
    FROM (SELECT DISTINCT track_row, track FROM shown)
),

arrows AS (
    SELECT
        shown.track_row,
        shown.track,
        shown.track_before,
        shown.before_ns,
        shown.start_ns,
        row_number() OVER (ORDER BY shown.start_ns, shown.source_id, shown.ordinal) AS number
    FROM shown
    WHERE shown.track <> shown.track_before AND shown.before_ns >= $since_ns
),

marks AS (
    SELECT
        start_ns AS time_ns,
        3 AS ordinal_in_time,
        track_row,
        track,
        concat(
            '"ph":"B","name":',
            to_json(kind),
            ',"args":',
            json_object('step', step)
        ) AS fields
    FROM shown
    UNION ALL
    SELECT end_ns AS time_ns, 1 AS ordinal_in_time, track_row, track, '"ph":"E"' AS fields
    FROM shown
    UNION ALL
    SELECT
        before_ns AS time_ns,
        4 AS ordinal_in_time,
        track_row,
        track_before AS track,
        concat('"ph":"s","name":"critical path","id":', $flows + number) AS fields
    FROM arrows
    UNION ALL
    SELECT
        start_ns AS time_ns,
        5 AS ordinal_in_time,
        track_row,
        track,
        concat('"ph":"f","bp":"e","name":"critical path","id":', $flows + number) AS fields
    FROM arrows
    UNION ALL
    SELECT
        $origin_ns AS time_ns,
        0 AS ordinal_in_time,
        track_row,
        track,
        concat(
            '"ph":"M","name":"thread_name","args":{"name":',
            to_json('critical path: ' || track),
            '}'
        ) AS fields
    FROM tracks
)

SELECT
    concat(
        e',\n{"cat":"tracehouse","pid":',
        $pid,
        ',"tid":',
        tracks.tid,
        ',"ts":',
        chrome_us(greatest(0, marks.time_ns - $origin_ns)),
        ',',
        marks.fields,
        '}'
    ) AS text
FROM marks
INNER JOIN tracks ON marks.track_row = tracks.track_row AND marks.track = tracks.track
ORDER BY marks.time_ns, marks.ordinal_in_time, tracks.tid, marks.fields;
