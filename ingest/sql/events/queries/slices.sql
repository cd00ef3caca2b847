-- Ranges of events in the order of the files, which limit how much a join holds in memory.
-- One row: a range of about $rows events: the first `event_id` in it and the first one after it.
WITH
chunks AS (
    SELECT event_id // 100_000 AS chunk, count(*) AS events
    FROM staged
    GROUP BY chunk
),

placed AS (
    SELECT chunk, (sum(events) OVER (ORDER BY chunk) - events) // $rows AS slice
    FROM chunks
)

SELECT min(chunk) * 100_000 AS from_id, (max(chunk) + 1) * 100_000 AS to_id
FROM placed
GROUP BY slice
ORDER BY slice;
