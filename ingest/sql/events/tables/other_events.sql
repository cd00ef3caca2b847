-- Events without a duration: instants, flows, counters and metadata; also complete events without a
-- name or a valid time. Together with `events`, this is everything in a trace.
-- One row: an event of an input file that is not in `events`.
--
-- run_id, source_id, rank
-- event_id  number of the event, unique in the run: source_id × 10¹² + its position in the file
-- phase     letter of the trace format: i instant, s and f ends of a flow, C counter, M metadata, …
-- category  category in current names (ac2g, fwdbwd, cpu_instant_event, …)
-- name      name as recorded
-- pid       process, or the device
-- tid       thread, or the stream
-- id        number shared by the ends of a flow
-- time_ns   Unix time, ns; null if the event has no valid time
-- event     the event as recorded (JSON)
SELECT
    staged.source_id,
    sources.rank,
    staged.event_id,
    staged.phase,
    staged.category,
    staged.name,
    staged.pid,
    staged.tid,
    staged.id,
    sources.base_ns + staged.relative_ns AS time_ns,
    staged.args AS event
FROM staged
INNER JOIN staged_sources AS sources ON staged.source_id = sources.source_id
WHERE staged.side IS NULL AND staged.phase IS NOT NULL;
