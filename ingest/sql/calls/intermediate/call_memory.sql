-- Changes of memory during calls, counted as torch does: a call includes every `[memory]` event
-- from its start to its end, on any thread.
-- One row: a call during which memory changed.
WITH
possible AS (
    SELECT event_id, source_id, start_ns, end_ns
    FROM call_spans
    WHERE
        near(start_ns) <> near(end_ns)
        OR near(start_ns) IN (SELECT near(time_ns) FROM traced_changes)
)

SELECT
    possible.event_id,
    by_end.cpu_bytes - coalesce(by_start.cpu_bytes, 0) AS cpu_bytes,
    by_end.device_bytes - coalesce(by_start.device_bytes, 0) AS device_bytes
FROM possible
ASOF INNER JOIN traced_changes AS by_end
    ON possible.source_id = by_end.source_id AND possible.end_ns >= by_end.time_ns
ASOF LEFT JOIN traced_changes AS by_start
    ON possible.source_id = by_start.source_id AND possible.start_ns > by_start.time_ns
WHERE by_end.time_ns >= possible.start_ns;
