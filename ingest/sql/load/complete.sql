-- Complete events with absolute times and today's categories.
-- One row: a complete event (phase X) that has a name, a time and a duration.
CREATE TABLE complete AS
SELECT
    staged.source_id,
    sources.rank,
    staged.source_id::BIGINT * 1_000_000_000_000 + staged.ordinal AS event_id,
    coalesce(categories.category, staged.category) AS category,
    staged.category AS recorded_category,
    coalesce(categories.side, 'annotation') AS side,
    staged.name,
    staged.pid,
    staged.tid,
    sources.base_ns + staged.relative_ns AS start_ns,
    sources.base_ns + staged.relative_ns + staged.dur_ns AS end_ns,
    staged.dur_ns,
    coalesce(staged.event_index, 0) AS event_index,
    staged.correlation,
    staged.external_id,
    staged.args
FROM staged
INNER JOIN staged_sources AS sources ON staged.source_id = sources.source_id
LEFT JOIN categories ON staged.category = categories.recorded
WHERE
    staged.phase = 'X'
    AND staged.name IS NOT NULL
    AND staged.relative_ns IS NOT NULL
    AND staged.dur_ns >= 0;

-- Threads as small integers: what nests, and what launches, does so on one lane.
CREATE TABLE lanes AS
SELECT
    source_id,
    pid,
    tid,
    row_number() OVER (ORDER BY source_id, pid, tid)::INTEGER AS lane
FROM (SELECT DISTINCT source_id, pid, tid FROM complete WHERE side = 'host');
