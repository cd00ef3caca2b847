-- The time of each step on each device, and the time between the steps. The windows of a device do
-- not overlap, and they cover its row of `work_windows`.
-- One row: a step of an input file on a device, or an interval between two steps.
-- Materialised: several relations read it.
--
-- A step's window ends when the host has ended the step and the device has ended what the step
-- launched. It begins at the end of the window before, but not before the host begins the step. If
-- a step has ended before that, its window is empty.
--
-- `is_step` is false for time between steps. `is_active` is whether the step launched something,
-- `range_end_ns` the end of the step on the host, and `end_ns` also of what it launched.
WITH
reached AS (
    SELECT source_id, device_id, step, max(end_ns) AS end_ns
    FROM activity_steps
    WHERE is_measured
    GROUP BY source_id, device_id, step
),

ends AS (
    SELECT
        measured.source_id,
        measured.device_id,
        measured.start_ns AS first_ns,
        steps.step,
        steps.start_ns,
        steps.dur_ns,
        greatest(steps.start_ns + steps.dur_ns, reached.end_ns) AS end_ns,
        reached.end_ns IS NOT NULL AS is_active
    FROM work_windows AS measured
    INNER JOIN steps ON measured.source_id = steps.source_id
    LEFT JOIN reached
        ON
            measured.source_id = reached.source_id
            AND measured.device_id = reached.device_id
            AND steps.step IS NOT DISTINCT FROM reached.step
    WHERE measured.measure = 'device'
),

in_order AS (
    SELECT *, max(end_ns) OVER earlier AS before_ns
    FROM ends
    WINDOW
        earlier AS (
            PARTITION BY source_id, device_id
            ORDER BY start_ns, dur_ns DESC, step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
)

SELECT
    source_id,
    device_id,
    step,
    TRUE AS is_step,
    is_active,
    start_ns,
    start_ns + dur_ns AS range_end_ns,
    end_ns,
    if(before_ns IS NULL, first_ns, greatest(start_ns, before_ns)) AS from_ns,
    greatest(end_ns, from_ns) AS until_ns
FROM in_order
UNION ALL
SELECT
    source_id,
    device_id,
    NULL AS step,
    FALSE AS is_step,
    FALSE AS is_active,
    NULL AS start_ns,
    NULL AS range_end_ns,
    NULL AS end_ns,
    before_ns AS from_ns,
    start_ns AS until_ns
FROM in_order
WHERE start_ns > before_ns;
