-- Makes the events of source $source_id, a timeline of MegEngine's Python profiler, operators and
-- kernels: events without a category are operators, and the thread of a kernel is named after its
-- comp node, for example `gpu0:1`, device 0 and stream 1.
UPDATE staged
SET
    category = placed.category,
    side = side(placed.category),
    args = CASE
        WHEN placed.device IS NOT NULL AND coalesce(json_type(args) = 'OBJECT', TRUE)
            THEN json_merge_patch(
                json_object('device', placed.device, 'stream', placed.stream), coalesce(args, '{}')
            )
        ELSE args
    END
FROM (
    WITH
    comp_nodes AS (
        SELECT
            pid,
            tid,
            regexp_extract(
                arg_max(args ->> '$.args.name', event_id),
                '^[a-z]+(\d+):(\d+)$',
                ['device', 'stream']
            ) AS numbers
        FROM staged
        WHERE source_id = $source_id AND phase = 'M' AND name = 'thread_name'
        GROUP BY pid, tid
    )

    SELECT
        event.event_id,
        coalesce(event.category, 'cpu_op') AS category,
        try_cast(comp_nodes.numbers.device AS BIGINT) AS device,
        try_cast(comp_nodes.numbers.stream AS BIGINT) AS stream
    FROM staged AS event
    LEFT JOIN comp_nodes ON event.pid = comp_nodes.pid AND event.tid = comp_nodes.tid
    WHERE event.source_id = $source_id AND event.side IS NOT NULL
) AS placed
WHERE staged.event_id = placed.event_id;
