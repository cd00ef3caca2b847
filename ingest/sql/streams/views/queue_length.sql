-- Length of the launch queue of each stream over time: launched work that has not begun. A graph
-- launch counts once.
-- One row: a time at which the length of a queue changed.
--
-- run_id, device_id, rank, device, stream, time_ns
-- dur_ns    time until the next change, ns; null for the last row
-- launches  number of launches at this time
-- length    number of launches in the queue until the next change
WITH
waits AS (
    SELECT
        run_id,
        device_id,
        rank,
        device,
        stream,
        launch_id,
        min(launch_ns) AS launch_ns,
        min(start_ns) AS start_ns
    FROM kernels
    WHERE launch_id IS NOT NULL
    GROUP BY ALL
),

-- Some profilers record activities that begin before their launch, because of clock errors.
queued AS (
    SELECT
        run_id,
        struct_pack(device_id, rank, device, stream) AS lane,
        least(launch_ns, start_ns) AS start_ns,
        start_ns AS end_ns,
        1 AS length
    FROM waits
)

SELECT
    run_id,
    lane.*,
    start_ns AS time_ns,
    end_ns - start_ns AS dur_ns,
    begun AS launches,
    length::BIGINT AS length
FROM swept('queued');
