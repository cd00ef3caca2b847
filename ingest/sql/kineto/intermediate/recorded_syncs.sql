-- The synchronisations that CUDA recorded, from the events of category `cuda_sync`.
-- One row: a call in which the host waits (`waits_on_host`), or after which a stream waits.
-- Materialised: most traces have none, and relations that read it are then known to be empty.
--
-- `stream` is the waiting stream. `awaited_stream` is the stream that it waits for; null for all
-- streams of the `device`, or if it is unknown. `awaited_correlation` is the call that recorded the
-- awaited event.
WITH recorded AS (
    SELECT
        source_id,
        correlation,
        name,
        from_json(args, '{
            "device": "BIGINT", "stream": "BIGINT", "wait_on_stream": "BIGINT",
            "wait_on_cuda_event_record_corr_id": "BIGINT"
        }') AS a
    FROM complete
    WHERE category = 'cuda_sync'
)

SELECT
    source_id,
    correlation,
    name <> 'Stream Wait Event' AS waits_on_host,
    a.device,
    a.stream,
    CASE
        WHEN name = 'Stream Sync' THEN a.stream
        WHEN name <> 'Context Sync' AND a.wait_on_stream NOT IN (-1, 4_294_967_295)
            THEN a.wait_on_stream
    END AS awaited_stream,
    a.wait_on_cuda_event_record_corr_id AS awaited_correlation
FROM recorded
WHERE name <> 'Stream Sync' OR a.stream IS NOT NULL;
