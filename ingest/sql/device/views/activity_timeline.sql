-- Device activities and the gaps between them on one time axis: what a timeline draws.
-- One row: an activity, or a gap, of one device of one rank of a run.
--
-- run_id         the run
-- rank           rank of the process
-- device         number of the device
-- lane           `stream N`, or `idle` for a gap
-- part           compute, communication or copy; for a gap its cause, as in `bubbles`
-- from_ns        time since the device's first activity at which it began, ns
-- to_ns          the same for its end, ns
-- dur_ns         its length, ns
-- name           kernel, copy or set; null for a gap
-- op             innermost operator around its launch; for a gap, what the host was doing
-- host_frame     for a gap, the Python frame the host was in
-- before_kernel  for a gap, the activity whose end began it
-- after_kernel   for a gap, the activity that ended it
-- step           step in which it was launched; for a gap, of the activity that ended it
WITH moments AS (
    SELECT
        run_id,
        rank,
        device,
        coalesce('stream ' || stream, 'no stream') AS lane,
        class AS part,
        start_ns,
        dur_ns,
        name,
        op,
        NULL AS host_frame,
        NULL AS before_kernel,
        NULL AS after_kernel,
        step
    FROM kernels
    UNION ALL
    SELECT
        run_id,
        rank,
        device,
        'idle' AS lane,
        cause AS part,
        start_ns,
        dur_ns,
        NULL AS name,
        host_op AS op,
        host_frame,
        before_kernel,
        after_kernel,
        step
    FROM bubbles
)

SELECT
    moments.run_id,
    moments.rank,
    moments.device,
    moments.lane,
    moments.part,
    moments.start_ns - device_totals.start_ns AS from_ns,
    moments.start_ns - device_totals.start_ns + moments.dur_ns AS to_ns,
    moments.dur_ns,
    moments.name,
    moments.op,
    moments.host_frame,
    moments.before_kernel,
    moments.after_kernel,
    moments.step
FROM moments
INNER JOIN device_totals
    ON
        moments.run_id = device_totals.run_id
        AND moments.rank = device_totals.rank
        AND moments.device IS NOT DISTINCT FROM device_totals.device;
