-- The synchronisations that CUDA recorded: which stream the host or another stream waited for.
-- One row: a call in which the host waits (`waits_on_host`), or after which a stream waits.
-- Materialised: a step in Python reads it.
--
-- `call_id` is the call. `lane` is the waiting stream. `awaited_lane` is the stream that it waits
-- for; it is 0 for all streams of the `device`, or if the stream is unknown. Only activities
-- launched before `before_ns` are waited for.
WITH records AS (
    SELECT source_id, correlation, min(start_ns) AS start_ns
    FROM complete
    WHERE
        category IN ('cuda_runtime', 'cuda_driver')
        AND correlation IN (SELECT awaited_correlation FROM recorded_syncs)
    GROUP BY source_id, correlation
)

SELECT
    path_steps.path,
    call.event_id AS call_id,
    syncs.waits_on_host::TINYINT AS waits_on_host,
    coalesce(syncs.device, -1) AS device,
    coalesce(hash(syncs.device, syncs.stream), 0) AS lane,
    if(syncs.awaited_stream IS NULL, 0, hash(syncs.device, syncs.awaited_stream)) AS awaited_lane,
    coalesce(records.start_ns, call.start_ns) AS before_ns
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
LEFT JOIN records
    ON
        syncs.source_id = records.source_id
        AND syncs.awaited_correlation = records.correlation;
