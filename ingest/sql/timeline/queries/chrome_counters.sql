-- The state of each device as counters: running activities, launches in the queue of each stream,
-- bandwidth of copies, memory in use and reserved, and the profiler's estimate of occupancy per
-- kernel; and counters of files that have no events for them. They belong to process $pid.
-- One row: the value of a counter from a point in time, as JSON after a comma.
WITH
-- The filter on the category limits the join to the device events of `events`.
activities AS (
    SELECT kernels.*
    FROM events_between($run, $rank, $since_ns, $until_ns, 0) AS found
    INNER JOIN kernels ON found.event_id = kernels.event_id
    WHERE kernels.run_id = $run AND side(found.category) = 'device'
),

running AS (
    SELECT run_id, device AS lane, start_ns, start_ns + dur_ns AS end_ns, 1 AS activities
    FROM activities
),

moments AS (
    SELECT *
    FROM memory_timeline
    WHERE
        run_id = $run AND rank = $rank AND time_ns <= $until_ns
),

memory AS (
    SELECT source_id, origin, device_type, device, time_ns, ordinal, used_bytes, reserved_bytes
    FROM moments
    WHERE time_ns >= $since_ns
    UNION ALL
    SELECT
        source_id,
        origin,
        device_type,
        device,
        $since_ns AS time_ns,
        max(ordinal) AS ordinal,
        arg_max(used_bytes, (time_ns, ordinal)) AS used_bytes,
        arg_max(reserved_bytes, (time_ns, ordinal)) AS reserved_bytes
    FROM moments
    WHERE time_ns < $since_ns
    GROUP BY source_id, origin, device_type, device
),

-- If a device has both a snapshot and a trace, each has its own counter.
named_memory AS (
    SELECT
        *,
        concat(device_type, ':' || device, if(
            min(source_id) OVER of_device = max(source_id) OVER of_device,
            '',
            concat(' (', origin, ')')
        )) AS name
    FROM memory
    WINDOW of_device AS (PARTITION BY device_type, device)
),

occupancies AS (
    SELECT
        device,
        stream,
        start_ns,
        dur_ns,
        occupancy_percent AS percent
    FROM activities
    WHERE kind = 'kernel'
),

-- A value from before the exported range still holds at the start of the range.
queues AS (
    SELECT device, stream, greatest(time_ns, $since_ns) AS time_ns, length
    FROM queue_length
    WHERE
        run_id = $run AND rank = $rank AND time_ns <= $until_ns
        AND (time_ns >= $since_ns OR time_ns + dur_ns > $since_ns)
),

copies AS (
    SELECT device, copy, greatest(time_ns, $since_ns) AS time_ns, gb_per_s
    FROM copy_bandwidth
    WHERE
        run_id = $run AND rank = $rank AND time_ns <= $until_ns
        AND (time_ns >= $since_ns OR time_ns + dur_ns > $since_ns)
),

shown AS (
    SELECT
        concat('device ', device, ', stream ', stream) AS name,
        'launches in the queue' AS counted,
        time_ns,
        length::VARCHAR AS value
    FROM queues
    UNION ALL
    SELECT
        concat('device ', device, ', ', replace(copy, 'Memcpy ', '')) AS name,
        'GB/s' AS counted,
        time_ns,
        if(isfinite(gb_per_s), round(gb_per_s, 6)::VARCHAR, 'null') AS value
    FROM copies
    UNION ALL
    SELECT
        concat('device ', lane) AS name,
        'activities running' AS counted,
        start_ns AS time_ns,
        activities::VARCHAR AS value
    FROM swept('running')
    UNION ALL
    SELECT
        name,
        'memory in use, bytes' AS counted,
        time_ns,
        arg_max(used_bytes, ordinal)::VARCHAR AS value
    FROM named_memory
    GROUP BY source_id, name, time_ns
    UNION ALL
    SELECT
        name,
        'memory reserved, bytes' AS counted,
        time_ns,
        arg_max(reserved_bytes, ordinal)::VARCHAR AS value
    FROM named_memory
    GROUP BY source_id, name, time_ns
    UNION ALL
    SELECT
        concat('device ', device, ', stream ', stream) AS name,
        'estimated occupancy, %' AS counted,
        unnest([start_ns, start_ns + dur_ns]) AS time_ns,
        unnest([percent, 0.0])::VARCHAR AS value
    FROM occupancies
    WHERE percent IS NOT NULL
    UNION ALL
    SELECT track AS name, counter AS counted, start_ns AS time_ns, value::VARCHAR AS value
    FROM counters
    WHERE
        run_id = $run AND rank = $rank AND start_ns BETWEEN $since_ns AND $until_ns
        AND event_id IS NULL AND isfinite(value)
)

SELECT
    concat(
        e',\n{"ph":"C","cat":"tracehouse","pid":',
        $pid,
        ',"ts":',
        chrome_us(greatest(0, time_ns - $origin_ns)),
        ',"name":',
        to_json(name),
        ',"args":{',
        to_json(counted),
        ':',
        value,
        '}}'
    ) AS text
FROM shown
WHERE value IS NOT NULL
ORDER BY time_ns, value = '0.0' DESC, name, counted, value;
