-- The most memory in use in each step, where the memory was recorded on the clock of the steps.
-- One row: a device in a step of a rank; `device` is its number, null for the host.
--
-- What was in use as the step began counts too. Of several files that tell of a device a snapshot
-- goes first, then a trace, then a memory timeline.
WITH
used AS (
    SELECT
        devices.device_id,
        sources.rank,
        devices.device,
        devices.origin,
        actions.time_ns,
        totals.ordinal,
        coalesce(totals.active_bytes, totals.allocated_bytes) AS used_bytes
    FROM memory_totals AS totals
    INNER JOIN memory_actions AS actions ON totals.action_id = actions.action_id
    INNER JOIN memory_devices AS devices ON totals.device_id = devices.device_id
    INNER JOIN staged_sources AS sources ON devices.source_id = sources.source_id
    WHERE actions.time_ns IS NOT NULL
),

-- At a moment, the last action counts as what was in use.
moments AS (
    SELECT
        device_id,
        rank,
        device,
        origin,
        time_ns,
        max(used_bytes) AS peak_bytes,
        arg_max(used_bytes, ordinal) AS used_bytes
    FROM used
    GROUP BY device_id, rank, device, origin, time_ns
),

recorded AS (
    SELECT
        steps.rank,
        steps.step,
        steps.start_ns,
        steps.start_ns + steps.dur_ns AS end_ns,
        devices.device_id
    FROM steps
    INNER JOIN (
        SELECT device_id, rank, min(time_ns) AS first_ns, max(time_ns) AS last_ns
        FROM moments
        GROUP BY device_id, rank
    ) AS devices
        ON
            steps.rank = devices.rank
            AND steps.start_ns <= devices.last_ns
            AND steps.start_ns + steps.dur_ns > devices.first_ns
),

reached AS (
    SELECT
        recorded.rank,
        recorded.step,
        moments.device,
        moments.origin,
        max(moments.peak_bytes) AS bytes
    FROM recorded
    INNER JOIN moments
        ON
            recorded.device_id = moments.device_id
            AND recorded.start_ns <= moments.time_ns
            AND recorded.end_ns > moments.time_ns
    GROUP BY recorded.rank, recorded.step, moments.device, moments.origin
    UNION ALL
    SELECT
        recorded.rank,
        recorded.step,
        moments.device,
        moments.origin,
        moments.used_bytes AS bytes
    FROM recorded
    ASOF INNER JOIN moments
        ON recorded.device_id = moments.device_id AND recorded.start_ns >= moments.time_ns
),

highest AS (
    SELECT rank, step, device, origin, max(bytes) AS peak_bytes
    FROM reached
    GROUP BY rank, step, device, origin
)

SELECT
    rank,
    step,
    if(device = 'cpu', 'host', 'device') AS measure,
    try_cast(regexp_extract(device, '[0-9]+$') AS BIGINT) AS device,
    arg_min(
        peak_bytes, (list_position(['snapshot', 'trace', 'timeline'], origin), -peak_bytes)
    ) AS peak_bytes,
    count(*) OVER (PARTITION BY rank, step, measure) AS devices
FROM highest
GROUP BY rank, step, highest.device;
