-- The ends of the Python frames of source $source_id with the ids $python_ids.
-- One row: an id in a process.
SELECT
    pid,
    try_cast(args ->> '$."Python id"' AS BIGINT) AS python_id,
    min(relative_ns + dur_ns) AS end_ns
FROM staged
WHERE
    source_id = $source_id
    AND category = 'python_function'
    AND side IS NOT NULL
    AND python_id IN (SELECT unnest($python_ids))
GROUP BY pid, python_id;
