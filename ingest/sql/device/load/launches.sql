-- The launch of each device activity: which call on the host started it, and when.
-- One row: a device activity with a known launch.
-- Materialised: several relations read it.
--
-- Launches are found by correlation, then by flow, then by External id. An External id names only
-- the operator, and so does a flow that begins at an operator: then its start counts as the launch.
-- Correlations and External ids are numbers within a process: if several processes of a file have
-- one, the launch is unknown.
WITH
launch_calls AS (
    SELECT * FROM complete WHERE category IN ('cuda_runtime', 'cuda_driver')
),

host_ops AS (
    SELECT source_id, event_id, pid, tid, external_id, name, lane, start_ns, dur_ns
    FROM complete
    WHERE category = 'cpu_op'
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

departures AS (
    SELECT activities.event_id, departure.source_id, departure.pid, departure.tid, departure.time_ns
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
),

by_flow AS (
    SELECT departures.event_id, min(launch_calls.event_id) AS launch_id
    FROM departures
    INNER JOIN launch_calls
        ON
            departures.source_id = launch_calls.source_id
            AND departures.pid = launch_calls.pid
            AND departures.tid = launch_calls.tid
            AND departures.time_ns = launch_calls.start_ns
    GROUP BY departures.event_id
),

linked AS (
    SELECT event_id, launch_id, 'correlation' AS link FROM by_correlation
    UNION ALL BY NAME
    SELECT event_id, launch_id, 'flow' AS link FROM by_flow
),

-- Of operators that begin at the same time, the shortest is the innermost.
by_flow_of_op AS (
    SELECT departures.event_id, arg_min(op.event_id, (op.dur_ns, -op.event_id)) AS op_id
    FROM departures
    ANTI JOIN linked ON departures.event_id = linked.event_id
    INNER JOIN host_ops AS op
        ON
            departures.source_id = op.source_id
            AND departures.pid = op.pid
            AND departures.tid = op.tid
            AND departures.time_ns = op.start_ns
    GROUP BY departures.event_id
),

by_external_id AS (
    SELECT activities.event_id, min(op.event_id) AS op_id
    FROM activities
    ANTI JOIN linked ON activities.event_id = linked.event_id
    ANTI JOIN by_flow_of_op ON activities.event_id = by_flow_of_op.event_id
    INNER JOIN host_ops AS op USING (source_id, external_id)
    WHERE external_id > 0
    GROUP BY activities.event_id
    HAVING min(op.pid) IS NOT DISTINCT FROM max(op.pid)
),

linked_op AS (
    SELECT event_id, op_id, 'flow' AS link FROM by_flow_of_op
    UNION ALL BY NAME
    SELECT event_id, op_id, 'external_id' AS link FROM by_external_id
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
    linked_op.event_id,
    NULL AS launch_id,
    linked_op.op_id,
    op.name AS op,
    linked_op.link,
    op.lane,
    op.start_ns AS launch_ns,
    NULL AS launch_dur_ns,
    NULL AS launch_name
FROM linked_op
INNER JOIN host_ops AS op ON linked_op.op_id = op.event_id;
