-- The synchronisations that CUDA recorded.
-- One row: an event of category `cuda_sync`.
-- Materialised: most traces have none, and relations that read it are then known to be empty.
SELECT
    source_id,
    correlation,
    name,
    from_json(args, '{
        "device": "BIGINT", "stream": "BIGINT", "wait_on_stream": "BIGINT",
        "wait_on_cuda_event_record_corr_id": "BIGINT"
    }') AS a
FROM complete
WHERE category = 'cuda_sync';
