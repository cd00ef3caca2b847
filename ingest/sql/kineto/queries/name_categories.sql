-- Sets the category of complete events of source $source_id that have none, from the names of their
-- process, their thread and themselves. In the process "CUDA functions", a thread is a device.
UPDATE staged
SET
    category = placed.category,
    side = side(placed.category),
    args = CASE
        WHEN
            staged.pid LIKE '% functions'
            AND side(placed.category) = 'device'
            AND try_cast(staged.tid AS BIGINT) IS NOT NULL
            AND coalesce(json_type(staged.args) = 'OBJECT', TRUE)
            AND json_extract(staged.args, '$.device') IS NULL
            THEN json_merge_patch(
                coalesce(staged.args, '{}'), json_object('device', staged.tid::BIGINT)
            )
        ELSE staged.args
    END
FROM (
    WITH
    processes AS (
        SELECT pid, arg_max(args ->> '$.args.name', event_id) AS process
        FROM staged
        WHERE source_id = $source_id AND phase = 'M' AND name = 'process_name'
        GROUP BY pid
    ),

    threads AS (
        SELECT pid, tid, arg_max(args ->> '$.args.name', event_id) AS thread
        FROM staged
        WHERE source_id = $source_id AND phase = 'M' AND name = 'thread_name'
        GROUP BY pid, tid
    )

    SELECT
        event.event_id,
        category_by_place(
            coalesce(processes.process, event.pid), coalesce(threads.thread, event.tid), event.name
        ) AS category
    FROM staged AS event
    LEFT JOIN processes ON event.pid = processes.pid
    LEFT JOIN threads ON event.pid = threads.pid AND event.tid = threads.tid
    WHERE event.source_id = $source_id AND event.side IS NOT NULL AND event.category IS NULL
) AS placed
WHERE staged.event_id = placed.event_id AND placed.category IS NOT NULL;
