-- Gives the events of source $source_id that an earlier export put on further tracks of their
-- threads the threads as recorded.
UPDATE staged
SET tid = further.tid
FROM (
    SELECT DISTINCT
        pid,
        tid AS shown_tid,
        args ->> '$.args.tid' AS tid
    FROM staged
    WHERE
        source_id = $source_id
        AND phase = 'M'
        AND category = 'tracehouse'
        AND name = 'thread_name'
        AND json_exists(args, '$.args.tid')
) AS further
WHERE
    staged.source_id = $source_id
    AND staged.pid IS NOT DISTINCT FROM further.pid
    AND staged.tid = further.shown_tid;
