-- Idle gaps in the measured window of their device, or of a host without a device.
-- One row: a gap, with the step of the activity that ended it. The gaps of a host have no cause,
-- start or length.
-- Materialised: several relations read it.
SELECT gap.source_id, gap.device, gap.step, gap.cause, gap.start_ns, gap.dur_ns
FROM bubbles AS gap
INNER JOIN work_windows AS measured
    ON
        gap.source_id = measured.source_id
        AND gap.device IS NOT DISTINCT FROM measured.device
        AND gap.start_ns >= measured.start_ns
        AND gap.start_ns + gap.dur_ns <= measured.end_ns
UNION ALL
SELECT
    found.source_id,
    NULL AS device,
    moment.step,
    NULL AS cause,
    NULL AS start_ns,
    NULL AS dur_ns
FROM (
    SELECT
        islands.source_id,
        islands.start_ns,
        row_number() OVER (PARTITION BY islands.source_id ORDER BY islands.start_ns) AS ordinal
    FROM busy_islands AS islands
    INNER JOIN work_windows AS measured
        ON
            islands.source_id = measured.source_id
            AND islands.end_ns >= measured.start_ns
            AND islands.start_ns <= measured.end_ns
    WHERE measured.measure = 'host'
) AS found
ASOF LEFT JOIN step_moments('steps') AS moment
    ON found.source_id = moment.source_id AND found.start_ns >= moment.from_ns
WHERE found.ordinal > 1;
