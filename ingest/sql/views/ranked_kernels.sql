-- Device activities with the name that each level of the rankings puts them under.
-- One row: a device activity at one level.
--
-- run_id    the run
-- level     op (outermost operator around the launch), leaf (innermost) or kernel
-- name      operator or kernel, as in `ranking`
-- rank      rank of the process
-- device    number of the device
-- event_id  the activity's row in `events`
-- owner_id  `event_id` of the operator that `name` names; null where that is a kernel
-- kernel    name of the kernel, copy or set
-- class     compute, communication or copy
-- dur_ns    its length, ns
CREATE VIEW ranked_kernels AS
SELECT
    run_id,
    'op' AS level,
    coalesce(top_op, CASE WHEN graph_launch THEN '(graph) ' || name ELSE '(no op)' END) AS name,
    rank,
    device,
    event_id,
    top_op_id AS owner_id,
    name AS kernel,
    class,
    dur_ns
FROM kernels
UNION ALL
SELECT
    run_id,
    'leaf' AS level,
    coalesce(op, CASE WHEN graph_launch THEN '(graph) ' || name ELSE '(no op)' END) AS name,
    rank,
    device,
    event_id,
    op_id AS owner_id,
    name AS kernel,
    class,
    dur_ns
FROM kernels
UNION ALL
SELECT
    run_id,
    'kernel' AS level,
    name,
    rank,
    device,
    event_id,
    NULL AS owner_id,
    name AS kernel,
    class,
    dur_ns
FROM kernels;
