-- Idle gaps in the measured window of their device, or of a host without a device.
-- One row: a gap, with the step of the activity that ended it. Times are those in the window. The
-- gaps of a host have no cause, start or end.
-- Materialised: several relations read it.
WITH
host_windows AS (
    FROM work_windows WHERE measure = 'host'
),

-- The edges of the window are islands without length.
host_islands AS (
    SELECT source_id, start_ns, end_ns, FALSE AS is_window_end
    FROM busy_islands
    WHERE source_id IN (SELECT host_windows.source_id FROM host_windows)
    UNION ALL
    SELECT source_id, start_ns, start_ns AS end_ns, FALSE AS is_window_end
    FROM host_windows
    UNION ALL
    SELECT source_id, end_ns AS start_ns, end_ns, TRUE AS is_window_end
    FROM host_windows
),

in_order AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY source_id ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_ns
    FROM host_islands
)

SELECT gap.source_id, gap.device_id, gap.step, gap.cause, start_ns, end_ns
FROM gaps_in('work_windows')
UNION ALL
SELECT
    host_gaps.source_id,
    host_gaps.device_id,
    moment.step,
    NULL AS cause,
    NULL AS start_ns,
    NULL AS end_ns
FROM (
    SELECT
        in_order.source_id,
        measured.device_id,
        if(is_window_end, reached_ns, in_order.start_ns) AS step_ns
    FROM in_order
    INNER JOIN host_windows AS measured
        ON
            in_order.source_id = measured.source_id
            AND in_order.start_ns > measured.start_ns
            AND in_order.reached_ns < measured.end_ns
    WHERE in_order.start_ns > in_order.reached_ns
) AS host_gaps
ASOF LEFT JOIN step_moments('steps') AS moment
    ON host_gaps.source_id = moment.source_id AND host_gaps.step_ns >= moment.from_ns;
