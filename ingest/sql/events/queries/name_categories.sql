-- Gives complete events of source $source_id without a category one by the names of their process,
-- their thread and themselves, if these tell it. In the process "CUDA functions", a thread is a
-- device.
UPDATE staged
SET
    category = placed.category,
    side = side(placed.category),
    args = if(
        staged.pid LIKE '% functions' AND side(placed.category) = 'device',
        json_merge_patch(
            coalesce(staged.args, '{}'), json_object('device', try_cast(staged.tid AS BIGINT))
        ),
        staged.args
    )
FROM (
    WITH
    named AS (
        SELECT
            pid,
            tid,
            any_value(args ->> '$.args.name') FILTER (WHERE name = 'process_name') AS process,
            any_value(args ->> '$.args.name') FILTER (WHERE name = 'thread_name') AS thread
        FROM staged
        WHERE source_id = $source_id AND phase = 'M'
        GROUP BY GROUPING SETS ((pid), (pid, tid))
    ),

    processes AS (SELECT pid, max(process) AS process FROM named GROUP BY pid),

    threads AS (SELECT pid, tid, max(thread) AS thread FROM named GROUP BY pid, tid)

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
