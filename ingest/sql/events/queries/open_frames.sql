-- Python frames of source $source_id without a recorded return. The profiler records them to its
-- stop, so they end at the same time, to within 2 µs in versions that round times.
-- One row: a frame that was open at the stop, with its id and the id of its caller.
WITH frames AS (
    SELECT
        event_id,
        relative_ns,
        relative_ns + dur_ns AS end_ns,
        args
    FROM staged
    WHERE source_id = $source_id AND category = 'python_function' AND side IS NOT NULL
)

SELECT
    event_id,
    relative_ns,
    end_ns,
    try_cast(args ->> '$."Python id"' AS BIGINT) AS python_id,
    try_cast(args ->> '$."Python parent id"' AS BIGINT) AS caller_id
FROM frames
WHERE end_ns >= (SELECT max(latest.end_ns) - 2_000 FROM frames AS latest);
