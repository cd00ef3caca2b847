-- The events of `chrome_events` on the threads $lanes, as in `chrome_lanes`; on streams with events
-- that overlap; and on threads and streams where the events of two files overlap.
-- One row: an event. `may_cross` is 1 for the events of such streams and files, and else 0.
WITH
spans AS (
    SELECT
        event_id,
        source_id,
        hash(pid, tid) AS lane,
        depth IS NULL AS is_on_stream,
        start_ns,
        start_ns + dur_ns AS end_ns
    FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns)
),

compared AS (
    SELECT lane, start_ns, lag(end_ns) OVER before AS before_ns
    FROM spans
    WHERE is_on_stream
    WINDOW before AS (PARTITION BY lane ORDER BY start_ns, end_ns DESC)
),

files AS (
    SELECT
        lane,
        struct_pack(source_id, is_on_stream) AS part,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns
    FROM spans
    GROUP BY ALL
),

overlapping AS (
    SELECT lane
    FROM compared
    WHERE before_ns > start_ns
    UNION
    SELECT files.lane
    FROM files
    INNER JOIN files AS others
        ON
            files.lane = others.lane
            AND files.part < others.part
            AND files.start_ns < others.end_ns
            AND files.end_ns > others.start_ns
)

SELECT
    event_id,
    lane,
    start_ns,
    end_ns,
    (lane IN (FROM overlapping))::TINYINT AS may_cross
FROM spans
WHERE lane IN (FROM overlapping) OR lane IN (SELECT unnest($lanes::UBIGINT[]));
