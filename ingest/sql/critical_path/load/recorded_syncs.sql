-- The synchronisations that CUDA recorded.
-- One row: an event of category `cuda_sync`.
-- Materialised: most traces hold none, and what reads it is then empty without a look.
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
