-- The launch of each device activity: which call on the host started it, and when.
-- One row: a device activity with a known launch.
-- Materialised: several relations read it.
--
-- Launches are found by correlation, then by flow, then by External id. An External id names only
-- the operator, so the operator's start counts as the launch. Correlations and External ids are
-- numbers within a process: if several processes of a file have one, the launch is unknown.
WITH
launch_calls AS (
    SELECT * FROM complete WHERE category IN ('cuda_runtime', 'cuda_driver')
),

external_ops AS (
    SELECT source_id, event_id, pid, external_id, name, lane, start_ns
    FROM complete
    WHERE category = 'cpu_op' AND external_id > 0
),

activities AS (
    SELECT source_id, event_id, pid, tid, start_ns, correlation, external_id
    FROM complete WHERE side = 'device'
),

by_correlation AS (
    SELECT activities.event_id, min(launch_calls.event_id) AS launch_id
    FROM activities
    INNER JOIN launch_calls USING (source_id, correlation)
    WHERE correlation <> 0  -- 0 means no correlation
    GROUP BY activities.event_id
    HAVING min(launch_calls.pid) IS NOT DISTINCT FROM max(launch_calls.pid)
),

flow_ends AS (
    SELECT * FROM other_events
    WHERE phase IN ('s', 'f') AND category IS DISTINCT FROM 'fwdbwd'
),

by_flow AS (
    SELECT activities.event_id, min(launch_calls.event_id) AS launch_id
    FROM activities
    ANTI JOIN by_correlation ON activities.event_id = by_correlation.event_id
    INNER JOIN flow_ends AS arrival
        ON
            activities.source_id = arrival.source_id
            AND activities.pid = arrival.pid
            AND activities.tid = arrival.tid
            AND activities.start_ns = arrival.time_ns
            AND arrival.phase = 'f'
    INNER JOIN flow_ends AS departure
        ON
            arrival.source_id = departure.source_id
            AND arrival.id = departure.id
            AND arrival.category IS NOT DISTINCT FROM departure.category
            AND departure.phase = 's'
    INNER JOIN launch_calls
        ON
            departure.source_id = launch_calls.source_id
            AND departure.pid = launch_calls.pid
            AND departure.tid = launch_calls.tid
            AND departure.time_ns = launch_calls.start_ns
    GROUP BY activities.event_id
),

linked AS (
    SELECT event_id, launch_id, 'correlation' AS link FROM by_correlation
    UNION ALL BY NAME
    SELECT event_id, launch_id, 'flow' AS link FROM by_flow
),

by_external_id AS (
    SELECT activities.event_id, min(op.event_id) AS op_id
    FROM activities
    ANTI JOIN linked ON activities.event_id = linked.event_id
    INNER JOIN external_ops AS op USING (source_id, external_id)
    GROUP BY activities.event_id
    HAVING min(op.pid) IS NOT DISTINCT FROM max(op.pid)
)

SELECT
    linked.event_id,
    linked.launch_id,
    NULL AS op_id,
    NULL AS op,
    linked.link,
    launch.lane,
    launch.start_ns AS launch_ns,
    launch.dur_ns AS launch_dur_ns,
    launch.name AS launch_name
FROM linked
INNER JOIN launch_calls AS launch ON linked.launch_id = launch.event_id
UNION ALL
SELECT
    by_external_id.event_id,
    NULL AS launch_id,
    by_external_id.op_id,
    op.name AS op,
    'external_id' AS link,
    op.lane,
    op.start_ns AS launch_ns,
    NULL AS launch_dur_ns,
    NULL AS launch_name
FROM by_external_id
INNER JOIN external_ops AS op ON by_external_id.op_id = op.event_id;
