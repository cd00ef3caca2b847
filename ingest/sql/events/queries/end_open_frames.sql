-- Ends frames of source $source_id without a recorded return, table `open_frames`, with the frame
-- that called them. The arguments keep the recorded duration. A caller that ended before the frame
-- began is not the caller: a generator is recorded where it was created.
UPDATE staged
SET
    dur_ns = ended.end_ns - staged.relative_ns,
    args = json_merge_patch(
        staged.args, json_object('recorded dur (ns)', staged.dur_ns)
    )
FROM (
    WITH RECURSIVE
    callers AS (
        SELECT
            try_cast(args ->> '$."Python id"' AS BIGINT) AS python_id,
            min(relative_ns + dur_ns) AS end_ns
        FROM staged
        WHERE source_id = $source_id AND category = 'python_function' AND side IS NOT NULL
        GROUP BY ALL
    ),

    ended AS (
        SELECT frame.event_id, frame.python_id, callers.end_ns
        FROM open_frames AS frame
        INNER JOIN callers ON frame.caller_id = callers.python_id
        WHERE
            frame.caller_id NOT IN (SELECT python_id FROM open_frames WHERE python_id IS NOT NULL)
            AND callers.end_ns > frame.relative_ns
        UNION
        SELECT frame.event_id, frame.python_id, ended.end_ns
        FROM open_frames AS frame
        INNER JOIN ended ON frame.caller_id = ended.python_id
        WHERE ended.end_ns > frame.relative_ns
    )

    SELECT event_id, min(end_ns) AS end_ns
    FROM ended
    GROUP BY event_id
) AS ended
WHERE staged.event_id = ended.event_id;
