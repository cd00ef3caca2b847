-- Complete events with absolute times, today's categories, and their threads as small integers:
-- what nests, and what launches, does so on one lane.
-- One row: a complete event (phase X) that has a name, a time and a duration.
CREATE TABLE complete AS
WITH lanes AS (
    SELECT *, row_number() OVER (ORDER BY source_id, pid, tid)::INTEGER AS lane
    FROM (SELECT DISTINCT source_id, pid, tid FROM staged WHERE phase = 'X')
)

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
    lanes.lane,
    sources.base_ns + staged.relative_ns AS start_ns,
    sources.base_ns + staged.relative_ns + staged.dur_ns AS end_ns,
    staged.dur_ns,
    coalesce(staged.event_index, 0) AS event_index,
    staged.correlation,
    staged.external_id,
    staged.args
FROM staged
INNER JOIN staged_sources AS sources ON staged.source_id = sources.source_id
INNER JOIN lanes
    ON
        staged.source_id = lanes.source_id
        AND staged.pid IS NOT DISTINCT FROM lanes.pid
        AND staged.tid IS NOT DISTINCT FROM lanes.tid
LEFT JOIN categories ON staged.category = categories.recorded
WHERE
    staged.phase = 'X'
    AND staged.name IS NOT NULL
    AND staged.relative_ns IS NOT NULL
    AND staged.dur_ns >= 0;
