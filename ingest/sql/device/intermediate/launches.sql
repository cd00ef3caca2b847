-- The launch of each device activity: which call on the host started it, and when.
-- One row: a device activity with a known launch.
-- Materialised: several relations read it.
--
-- Launches are found by correlation, then by flow, then by External id. An External id names only
-- the operator, and so does a flow that begins in an operator: then its start counts as the launch.
-- If other operators have ended inside that operator before the flow begins, the launch is unknown.
-- Correlations, External ids and flows are numbers within a process: if several processes of a file
-- have one, the launch is unknown.
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

-- If several flows have an id, it is unknown which of them arrives.
departures AS (
    SELECT
        source_id,
        id,
        category,
        any_value(pid) AS pid,
        any_value(tid) AS tid,
        any_value(time_ns) AS time_ns
    FROM flow_ends
    WHERE phase = 's'
    GROUP BY source_id, id, category
    HAVING count(*) = 1
),

arrivals AS (
    SELECT activities.event_id, departures.*
    FROM activities
    ANTI JOIN by_correlation ON activities.event_id = by_correlation.event_id
    INNER JOIN flow_ends AS arrival
        ON
            activities.source_id = arrival.source_id
            AND activities.pid = arrival.pid
            AND activities.tid = arrival.tid
            AND activities.start_ns = arrival.time_ns
            AND arrival.phase = 'f'
    INNER JOIN departures
        ON
            arrival.source_id = departures.source_id
            AND arrival.id = departures.id
            AND arrival.category IS NOT DISTINCT FROM departures.category
),

by_flow AS (
    SELECT arrivals.event_id, min(launch_calls.event_id) AS launch_id
    FROM arrivals
    INNER JOIN launch_calls
        ON
            arrivals.source_id = launch_calls.source_id
            AND arrivals.pid = launch_calls.pid
            AND arrivals.tid = launch_calls.tid
            AND arrivals.time_ns = launch_calls.start_ns
    GROUP BY arrivals.event_id
),

linked AS (
    SELECT event_id, launch_id, 'correlation' AS link FROM by_correlation
    UNION ALL BY NAME
    SELECT event_id, launch_id, 'flow' AS link FROM by_flow
),

unlinked AS (
    SELECT arrivals.*
    FROM arrivals
    ANTI JOIN linked ON arrivals.event_id = linked.event_id
),

-- The last operator that began, if it has not ended. Of operators that begin at the same time, the
-- shortest is the innermost.
last_began AS (
    SELECT
        source_id, pid, tid, start_ns, arg_min((event_id, dur_ns), (dur_ns, -event_id)) AS op
    FROM host_ops
    SEMI JOIN unlinked USING (source_id, pid, tid)
    GROUP BY ALL
),

by_flow_of_op AS (
    SELECT unlinked.event_id, last_began.op[1] AS op_id
    FROM unlinked
    ASOF JOIN last_began
        ON
            unlinked.source_id = last_began.source_id
            AND unlinked.pid = last_began.pid
            AND unlinked.tid = last_began.tid
            AND unlinked.time_ns >= last_began.start_ns
    WHERE unlinked.time_ns < last_began.start_ns + greatest(last_began.op[2], 1)
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
