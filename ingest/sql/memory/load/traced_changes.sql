-- How much the traces' `[memory]` events had added by each moment, of the host's memory and of all
-- devices' together.
-- One row: a moment at which memory changed in a source.
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
