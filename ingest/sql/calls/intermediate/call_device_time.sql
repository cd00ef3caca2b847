-- Time of the device activities that calls launched, and the device idle time directly before them.
-- Runtime functions are left out: their callers count it.
-- One row: a call that launched device activities, itself or through a call inside it.
-- Materialised: several relations read it.
WITH
possible AS (
    SELECT call.event_id, call.lane, call.start_ns, call.end_ns
    FROM call_spans AS call
    SEMI JOIN launched_time AS launching USING (lane)
    WHERE
        call.category NOT IN ('cuda_runtime', 'cuda_driver')
        AND (
            near(call.start_ns) <> near(call.end_ns)
            OR near(call.start_ns) IN (SELECT near(moment.launch_ns) FROM launched_time AS moment)
        )
)

SELECT
    possible.event_id,
    by_end.device_ns - coalesce(by_start.device_ns, 0) AS device_ns,
    by_end.idle_ns - coalesce(by_start.idle_ns, 0) AS idle_ns
FROM possible
ASOF INNER JOIN launched_time AS by_end
    ON possible.lane = by_end.lane AND possible.end_ns > by_end.launch_ns
ASOF LEFT JOIN launched_time AS by_start
    ON possible.lane = by_start.lane AND possible.start_ns > by_start.launch_ns
WHERE by_end.launch_ns >= possible.start_ns;
