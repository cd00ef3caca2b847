-- Idle gaps of each device, with the activities before and after, and the launch of the activity
-- after.
-- One row: a gap. `is_late` is whether the activity after the gap was launched after the gap began;
-- null if unknown. `is_wait` is whether that activity waited for another stream during at least
-- half of the gap; null if unknown.
-- Materialised: several relations read it.
WITH neighbours AS (
    SELECT
        *,
        lag(end_ns) OVER device_order AS idle_from_ns,
        lag(last_id) OVER device_order AS before_kernel_id
    FROM device_islands
    WHERE class = 'all'
    WINDOW device_order AS (PARTITION BY source_id, device ORDER BY island)
)

SELECT
    row_number() OVER (ORDER BY neighbours.source_id, neighbours.device, neighbours.start_ns)
        AS gap_id,
    neighbours.source_id,
    neighbours.rank,
    neighbours.device,
    neighbours.idle_from_ns AS from_ns,
    neighbours.start_ns AS to_ns,
    neighbours.before_kernel_id,
    neighbours.first_id AS after_kernel_id,
    launches.lane AS thread,
    launches.launch_ns,
    starts.wait_ns >= (to_ns - from_ns) / 2 AS is_wait,
    coalesce(launches.launch_ns > from_ns, NOT is_wait) AS is_late
FROM neighbours
LEFT JOIN launches ON neighbours.first_id = launches.event_id AND launches.launch_id IS NOT NULL
LEFT JOIN megengine_starts AS starts ON neighbours.first_id = starts.event_id
WHERE neighbours.idle_from_ns IS NOT NULL;
