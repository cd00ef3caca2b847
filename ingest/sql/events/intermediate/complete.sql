-- Complete events with absolute times.
-- One row: a complete event (phase X) that has a name, a time and a duration.
-- Materialised in small runs: planning it takes longer than reading its rows.
--
-- Events nest and launch on one lane, which is a thread of a source.
SELECT
    staged.source_id,
    sources.rank,
    staged.event_id,
    staged.category,
    coalesce(staged.older_category, staged.category) AS recorded_category,
    staged.side,
    staged.name,
    staged.pid,
    staged.tid,
    hash(staged.source_id, staged.pid, staged.tid) AS lane,
    sources.base_ns + staged.relative_ns AS start_ns,
    sources.base_ns + staged.relative_ns + staged.dur_ns AS end_ns,
    staged.dur_ns,
    -- Calls of runtimes have no index. One that lasts as long as its caller is inside it.
    coalesce(staged.event_index, 9_223_372_036_854_775_807) AS event_index,
    staged.correlation,
    staged.external_id,
    staged.args
FROM staged
INNER JOIN staged_sources AS sources ON staged.source_id = sources.source_id
WHERE staged.side IS NOT NULL;
