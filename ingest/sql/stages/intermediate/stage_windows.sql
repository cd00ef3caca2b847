-- The time range of each pipeline call.
-- One row: a call, on a device of its rank; in a run without a device, on its host.
-- Materialised: several relations read it.
--
-- `start_ns` to `end_ns` covers the call and the activities that it launched; on a host, it is
-- exactly the call. `work_start_ns` to `work_end_ns` covers only the activities. If the call
-- launched none, both are the end of the call.
WITH
active AS (
    SELECT
        activity.source_id,
        activity.device_id,
        work.call,
        min(activity.start_ns) AS start_ns,
        max(activity.end_ns) AS end_ns
    FROM stage_members AS work
    INNER JOIN activity_steps AS activity ON work.event_id = activity.event_id
    WHERE activity.class IS NOT NULL
    GROUP BY activity.source_id, activity.device_id, work.call
),

windows AS (
    SELECT
        calls.source_id,
        calls.rank,
        devices.device_id,
        devices.measure,
        calls.call,
        calls.pipeline,
        coalesce(active.start_ns, calls.end_ns) AS work_start_ns,
        coalesce(active.end_ns, calls.end_ns) AS work_end_ns,
        calls.start_ns,
        calls.end_ns
    FROM pipeline_calls AS calls
    INNER JOIN work_devices AS devices ON calls.rank = devices.rank
    LEFT JOIN active USING (source_id, call, device_id)
)

SELECT
    * REPLACE (
        if(measure = 'host', start_ns, least(start_ns, work_start_ns)) AS start_ns,
        if(measure = 'host', end_ns, greatest(end_ns, work_end_ns)) AS end_ns
    )
FROM windows;
