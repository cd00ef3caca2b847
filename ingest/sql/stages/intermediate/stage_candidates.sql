-- Device activities, outermost operators, and operators with known work (kind `work`) that may
-- belong to a stage, with the time that decides: the launch of a device activity, or its start if
-- the launch is unknown, and the start of an operator.
-- One row: an activity or operator, by kind. `lane` is the thread; null if unknown.
SELECT
    kernels.source_id,
    kernels.event_id,
    'activity' AS kind,
    launches.lane,
    coalesce(launches.launch_ns, kernels.start_ns) AS at_ns
FROM kernels
LEFT JOIN launches ON kernels.event_id = launches.event_id
UNION ALL
SELECT source_id, event_id, 'operator' AS kind, lane, start_ns AS at_ns
FROM outermost_ops
UNION ALL
SELECT source_id, op_id AS event_id, 'work' AS kind, lane, start_ns AS at_ns
FROM op_work_spans;
