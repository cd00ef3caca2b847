-- Device activities and the gaps between them on one time axis, for timelines.
-- One row: an activity or a gap of one device of one rank of a run.
--
-- run_id, rank, device
-- lane           `stream N`, or `idle` for a gap
-- part           class of the activity: compute, communication or copy; for a gap its cause, as in
--                `bubbles`
-- start_ns       Unix time at the start, ns
-- end_ns         Unix time at the end, ns
-- dur_ns
-- name           name of the kernel, copy or memset; null for a gap
-- op             innermost operator around the launch; for a gap, what the host was doing
-- host_frame     for a gap, the Python frame that the host was in; null for an activity
-- before_kernel  for a gap, the activity before it; null for an activity
-- after_kernel   for a gap, the activity after it; null for an activity
-- step           step in which the activity was launched (`steps.step`); for a gap, the step of the
--                activity after it
SELECT
    run_id,
    rank,
    device,
    coalesce('stream ' || stream, 'no stream') AS lane,
    class AS part,
    start_ns,
    start_ns + dur_ns AS end_ns,
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
    start_ns + dur_ns AS end_ns,
    dur_ns,
    NULL AS name,
    host_op AS op,
    host_frame,
    before_kernel,
    after_kernel,
    step
FROM bubbles;
