-- How many launched pieces of work waited in the queue of each stream, over time. A graph launch
-- counts once.
-- One row: a moment at which the length of a queue changed.
--
-- run_id    the run
-- rank      rank of the process
-- device    number of the device
-- stream    stream on the device
-- time_ns   Unix time, ns
-- dur_ns    time until the next change, ns; null at the last
-- launches  launches at this moment
-- length    launches whose work had not begun yet, from this moment on
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

-- Some profilers let an activity begin before its launch, by a fault of their clocks.
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
