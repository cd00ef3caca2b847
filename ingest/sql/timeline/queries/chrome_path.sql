-- The critical paths as tracks in process $pid: one for the host, and one for each stream that they
-- lead over. Arrows lead from track to track. Paths of steps that share time have tracks of their
-- own. Stretches name their kind alone: Perfetto's search for a kernel would find them too.
-- One row: an event, as JSON after a comma; in order of time.
WITH
stretches AS (
    SELECT
        *,
        start_ns + dur_ns AS end_ns,
        if(starts_with(lane, 'stream'), lane, 'host') AS place,
        lag(if(starts_with(lane, 'stream'), lane, 'host')) OVER in_order AS place_before,
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
    FROM stretches
    GROUP BY source_id, step
    HAVING min(start_ns) < $until_ns AND max(end_ns) > $since_ns
),

-- So many paths apart, none shares time with another.
apart AS (
    SELECT max(later.number - earlier.number) + 1 AS paths
    FROM paths AS later
    INNER JOIN paths AS earlier
        ON later.number >= earlier.number AND later.start_ns < earlier.end_ns
),

shown AS (
    SELECT
        stretches.*,
        paths.number % apart.paths AS row_number
    FROM stretches
    INNER JOIN paths
        ON
            stretches.source_id = paths.source_id
            AND stretches.step IS NOT DISTINCT FROM paths.step
    CROSS JOIN apart
    WHERE stretches.start_ns < $until_ns AND stretches.end_ns > $since_ns
),

tracks AS (
    SELECT
        row_number,
        place,
        1000 + row_number() OVER (ORDER BY row_number, place <> 'host', place) AS tid
    FROM (SELECT DISTINCT row_number, place FROM shown)
),

arrows AS (
    SELECT
        shown.row_number,
        shown.place,
        shown.place_before,
        shown.before_ns,
        shown.start_ns,
        row_number() OVER (ORDER BY shown.start_ns, shown.source_id, shown.ordinal) AS number
    FROM shown
    WHERE shown.place <> shown.place_before AND shown.before_ns >= $since_ns
),

marks AS (
    SELECT
        start_ns AS time_ns,
        3 AS place_in_time,
        row_number,
        place,
        concat(
            '"ph":"B","name":',
            to_json(kind),
            ',"args":',
            json_object('step', step)
        ) AS fields
    FROM shown
    UNION ALL
    SELECT end_ns AS time_ns, 1 AS place_in_time, row_number, place, '"ph":"E"' AS fields
    FROM shown
    UNION ALL
    SELECT
        before_ns AS time_ns,
        2 AS place_in_time,
        row_number,
        place_before AS place,
        concat('"ph":"s","name":"critical path","id":', $flows + number) AS fields
    FROM arrows
    UNION ALL
    SELECT
        start_ns AS time_ns,
        4 AS place_in_time,
        row_number,
        place,
        concat('"ph":"f","bp":"e","name":"critical path","id":', $flows + number) AS fields
    FROM arrows
    UNION ALL
    SELECT
        $origin_ns AS time_ns,
        0 AS place_in_time,
        row_number,
        place,
        concat(
            '"ph":"M","name":"thread_name","args":{"name":',
            to_json('critical path: ' || place),
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
INNER JOIN tracks ON marks.row_number = tracks.row_number AND marks.place = tracks.place
ORDER BY marks.time_ns, marks.place_in_time, tracks.tid, marks.fields;
