-- Idle gaps of each device, with the activities before and after, and the launch of the activity
-- after.
-- One row: a gap. `is_late` is whether the activity after the gap was launched after the gap began,
-- or never; null if unknown. `is_wait` is whether that activity waited for another stream during at
-- least half of the gap; null if unknown.
-- Materialised: several relations read it.
--
-- The gap before a device's first activity begins with the recording, and the one after the last
-- activity ends with it. A device that only other files of its rank use is idle all the time. These
-- gaps are cut where the measured time begins and ends, so that the cause of each part is its own.
-- `is_outside` is whether a part is outside of the measured time. `host_step` is the step of the
-- host when such a gap began.
WITH
neighbours AS (
    SELECT
        islands.source_id,
        islands.device_id,
        coalesce(lag(islands.end_ns) OVER device_order, recordings.start_ns) AS from_ns,
        islands.start_ns AS to_ns,
        lag(islands.last_id) OVER device_order AS before_kernel_id,
        islands.first_id AS after_kernel_id
    FROM device_islands AS islands
    INNER JOIN recordings ON islands.source_id = recordings.source_id
    WHERE islands.class = 'all'
    WINDOW
        device_order AS (
            PARTITION BY islands.source_id, islands.device_id ORDER BY islands.island
        )
    UNION ALL BY NAME
    SELECT
        islands.source_id,
        islands.device_id,
        max(islands.end_ns) AS from_ns,
        any_value(recordings.end_ns) AS to_ns,
        arg_max(islands.last_id, islands.island) AS before_kernel_id
    FROM device_islands AS islands
    INNER JOIN recordings ON islands.source_id = recordings.source_id
    WHERE islands.class = 'all'
    GROUP BY islands.source_id, islands.device_id
    UNION ALL BY NAME
    SELECT
        unused.source_id,
        unused.device_id,
        recordings.start_ns AS from_ns,
        recordings.end_ns AS to_ns
    FROM work_windows AS unused
    INNER JOIN recordings ON unused.source_id = recordings.source_id
    ANTI JOIN device_islands AS islands
        ON
            unused.source_id = islands.source_id
            AND unused.device_id = islands.device_id
            AND islands.class = 'all'
    WHERE unused.measure = 'device'
),

edges AS (
    SELECT
        neighbours.*,
        least(greatest(measured.start_ns, from_ns), to_ns) AS first_ns,
        least(greatest(measured.end_ns, from_ns), to_ns) AS last_ns
    FROM neighbours
    LEFT JOIN work_windows AS measured USING (source_id, device_id)
    WHERE before_kernel_id IS NULL OR after_kernel_id IS NULL
),

edge_parts AS (
    SELECT
        * EXCLUDE (first_ns, last_ns) REPLACE (
            unnest([from_ns, first_ns, last_ns]) AS from_ns,
            unnest([first_ns, last_ns, to_ns]) AS to_ns
        ),
        unnest([TRUE, FALSE, TRUE]) AS is_outside
    FROM edges
),

cut AS (
    SELECT *, FALSE AS is_outside
    FROM neighbours
    WHERE before_kernel_id IS NOT NULL AND after_kernel_id IS NOT NULL
    UNION ALL BY NAME
    SELECT edge_parts.*, nullif(changes.step, -1) AS host_step
    FROM edge_parts
    ASOF LEFT JOIN step_changes AS changes
        ON
            edge_parts.source_id = changes.source_id
            AND edge_parts.from_ns >= changes.from_ns
)

SELECT
    row_number() OVER (ORDER BY cut.source_id, cut.device_id, cut.from_ns) AS gap_id,
    cut.*,
    launches.lane AS thread,
    if(cut.after_kernel_id IS NULL, NULL, launches.launch_ns) AS launch_ns,
    starts.wait_ns >= (to_ns - from_ns) / 2 AS is_wait,
    if(
        cut.after_kernel_id IS NULL,
        nullif(cut.before_kernel_id IS NULL OR launches.lane IS NOT NULL, FALSE),
        coalesce(launches.launch_ns > from_ns, NOT is_wait)
    ) AS is_late
FROM cut
LEFT JOIN launches
    ON
        coalesce(cut.after_kernel_id, cut.before_kernel_id) = launches.event_id
        AND launches.launch_id IS NOT NULL
LEFT JOIN megengine_starts AS starts ON cut.after_kernel_id = starts.event_id
WHERE cut.to_ns > cut.from_ns;
