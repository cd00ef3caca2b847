-- What may belong to a stage of a pipeline, with the moment that decides: of device activities the
-- launch, without one the start; of outermost operators the start.
-- One row: an activity or operator. `lane` is the thread; null where unknown.
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
FROM outermost_ops;
