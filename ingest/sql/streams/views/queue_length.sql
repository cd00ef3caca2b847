-- Length of the launch queue of each stream over time: launched work that has not begun. A graph
-- launch counts once.
-- One row: a time at which the length of a queue changed.
--
-- run_id    the run
-- rank      rank of the process
-- device    number of the device
-- stream    stream on the device
-- time_ns   Unix time, ns
-- dur_ns    time until the next change, ns; null for the last row
-- launches  number of launches at this time
-- length    number of launches in the queue until the next change
WITH
waits AS (
    SELECT
        run_id,
        rank,
        device,
        stream,
        launch_id,
        min(launch_ns) AS launch_ns,
        min(start_ns) AS start_ns
    FROM kernels
    WHERE launch_id IS NOT NULL
    GROUP BY run_id, rank, device, stream, launch_id
),

-- Some profilers record activities that begin before their launch, because of clock errors.
changes AS (
    SELECT
        run_id,
        rank,
        device,
        stream,
        unnest([least(launch_ns, start_ns), start_ns]) AS time_ns,
        unnest([1, 0]) AS launches,
        unnest([1, -1]) AS change
    FROM waits
)

SELECT
    run_id,
    rank,
    device,
    stream,
    time_ns,
    lead(time_ns) OVER in_stream - time_ns AS dur_ns,
    sum(launches)::BIGINT AS launches,
    (sum(sum(change)) OVER in_stream)::BIGINT AS length
FROM changes
GROUP BY run_id, rank, device, stream, time_ns
WINDOW in_stream AS (PARTITION BY run_id, rank, device, stream ORDER BY time_ns);
