-- The bytes that the traces' `[memory]` events have added up to each time, for the host's memory
-- and for the memory of all devices together.
-- One row: a time at which memory changed in a source.
-- Materialised: ASOF joins read it.
SELECT
    source_id,
    time_ns,
    coalesce(sum(sum(change_bytes) FILTER (WHERE device_label = 'cpu')) OVER so_far, 0)::BIGINT
        AS cpu_bytes,
    coalesce(sum(sum(change_bytes) FILTER (WHERE device_label <> 'cpu')) OVER so_far, 0)::BIGINT
        AS device_bytes
FROM memory_actions
WHERE origin = 'trace'
GROUP BY source_id, time_ns
WINDOW so_far AS (PARTITION BY source_id ORDER BY time_ns ROWS UNBOUNDED PRECEDING);
