-- Recorded instants, counters and flow arrows. An end of an arrow is kept if an exported event
-- begins there, and is on the track of that event; a complete export keeps all ends.
-- $interval_number and $flows keep the ids of different ranks distinct. Events added by an earlier
-- export are left out.
-- One row: an event, as JSON after a comma.
WITH
recorded AS (
    SELECT
        *,
        phase IN ('s', 't', 'f') AS is_arrow
    FROM other_events
    WHERE
        run_id = $run
        AND rank = $rank
        AND time_ns IS NOT NULL
        AND phase <> 'M'
        AND category IS DISTINCT FROM 'tracehouse'
),

arrows AS (
    SELECT event_id, pid, tid, time_ns
    FROM recorded
    WHERE is_arrow
),

present AS (
    SELECT DISTINCT arrows.event_id
    FROM events_between($run, $rank, $since_ns, $until_ns, $shortest_ns) AS found
    INNER JOIN arrows
        ON
            found.pid = arrows.pid
            AND found.tid = arrows.tid
            AND found.start_ns = arrows.time_ns
),

-- Where an event of a further track begins, and none of the first; see `chrome_crossing`.
crossing AS (
    SELECT
        unnest($crossing_ids::BIGINT[]) AS event_id,
        unnest($tracks::BIGINT[]) AS track
),

begun AS (
    SELECT
        events.pid,
        events.tid,
        events.start_ns,
        min(chrome_tid(events.tid, crossing.track, events.category)) AS shown_tid
    FROM crossing
    INNER JOIN events ON crossing.event_id = events.event_id
    WHERE events.run_id = $run AND events.rank = $rank
    GROUP BY ALL
),

begun_on_first AS (
    SELECT events.pid, events.tid, events.start_ns
    FROM events
    SEMI JOIN begun USING (pid, tid, start_ns)
    ANTI JOIN crossing ON events.event_id = crossing.event_id
    WHERE events.run_id = $run AND events.rank = $rank
),

places AS (FROM begun ANTI JOIN begun_on_first USING (pid, tid, start_ns)),

kept AS (
    SELECT *
    FROM recorded
    WHERE is_arrow AND ($is_whole OR event_id IN (SELECT event_id FROM present))
    UNION ALL
    SELECT *
    FROM recorded
    WHERE NOT is_arrow AND time_ns BETWEEN $since_ns AND $until_ns
)

SELECT
    e',\n' || chrome_moved(
        kept.event,
        kept.pid,
        if(kept.is_arrow AND places.shown_tid IS NOT NULL, places.shown_tid, chrome_id(kept.tid)),
        kept.time_ns - $origin_ns,
        $interval_number,
        ',"id":' || CASE
            WHEN $interval_number IS NULL OR kept.id IS NULL THEN NULL
            WHEN try_cast(kept.id AS UBIGINT) < 1_099_511_627_776  -- 2⁴⁰
                THEN (kept.id::BIGINT + $flows::BIGINT)::VARCHAR
            ELSE to_json(concat($interval_number, ' ', kept.id))::VARCHAR
        END
    ) AS text
FROM kept
LEFT JOIN places
    ON kept.pid = places.pid AND kept.tid = places.tid AND kept.time_ns = places.start_ns
ORDER BY kept.event_id;
