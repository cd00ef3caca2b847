-- Python frames of source $source_id without a recorded return. The profiler records them to its
-- stop, so those of a process end at the same time: $ends_ns, by process id $pids, to within 2 µs
-- in versions that round times.
-- One row: a frame that was open at the stop, with its id and the id of its caller.
SELECT
    staged.event_id,
    staged.pid,
    staged.relative_ns,
    staged.relative_ns + staged.dur_ns AS end_ns,
    try_cast(staged.args ->> '$."Python id"' AS BIGINT) AS python_id,
    try_cast(staged.args ->> '$."Python parent id"' AS BIGINT) AS caller_id
FROM staged
INNER JOIN (SELECT unnest($pids) AS pid, unnest($ends_ns) AS end_ns) AS stopped
    ON
        staged.pid IS NOT DISTINCT FROM stopped.pid
        AND staged.relative_ns + staged.dur_ns >= stopped.end_ns - 2_000
WHERE
    staged.source_id = $source_id
    AND staged.category = 'python_function'
    AND staged.side IS NOT NULL
ORDER BY staged.relative_ns, python_id, staged.event_id;
