-- What CUDA recorded of synchronisation: for which stream the host or another stream waited.
-- One row: a call of the host that waits (`waits_on_host`), or after which a stream does.
-- Materialised: a step in Python reads it.
--
-- `call_id` is the call. `lane` is the stream that waits, `awaited_lane` the stream waited for, 0
-- for all. Of the latter's activities, those launched before `before_ns` count.
SELECT
    path_steps.path,
    call.event_id AS call_id,
    (syncs.a.cuda_sync_kind <> 'Stream Wait Event')::TINYINT AS waits_on_host,
    hash(syncs.a.device, syncs.a.stream) AS lane,
    CASE syncs.a.cuda_sync_kind
        WHEN 'Context Sync' THEN 0
        WHEN 'Stream Sync' THEN hash(syncs.a.device, syncs.a.stream)
        ELSE hash(syncs.a.device, syncs.a.wait_on_stream)
    END AS awaited_lane,
    coalesce(record.start_ns, call.start_ns) AS before_ns
FROM recorded_syncs AS syncs
INNER JOIN complete AS call
    ON
        syncs.source_id = call.source_id
        AND syncs.correlation = call.correlation
        AND call.category IN ('cuda_runtime', 'cuda_driver')
INNER JOIN path_steps
    ON
        syncs.source_id = path_steps.source_id
        AND call.start_ns BETWEEN path_steps.start_ns AND path_steps.end_ns
LEFT JOIN complete AS record
    ON
        syncs.source_id = record.source_id
        AND syncs.a.wait_on_cuda_event_record_corr_id = record.correlation
        AND record.category IN ('cuda_runtime', 'cuda_driver');
