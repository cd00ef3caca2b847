-- Part of `group_path_ranks`: where the critical path of a rank waited for another rank.
-- One row: a call on the critical path of a step to which another rank came last, by more than the
-- spread of the ends and the uncertainty of the clocks. `path` is that of the waiting rank, and
-- `to_path` that of the last rank, in the same step (`path_steps.path`). `at_ns` is the corrected
-- time at which the last rank came.
--
-- A call of the host lies on the path if the host does nothing else until the call ends.
WITH
waits AS (
    SELECT
        path_steps.path,
        last_steps.path AS to_path,
        last_call.corrected_start_ns AS at_ns,
        own.collective_id,
        own.stream IS NULL AS is_of_host,
        own.start_ns + own.dur_ns AS end_ns,
        own.start_ns + own.wait_ns AS wait_end_ns
    FROM collectives AS own
    INNER JOIN collectives AS last_call
        ON
            own.process_group_id = last_call.process_group_id
            AND own.cycle = last_call.cycle
            AND own.ordinal = last_call.ordinal
            AND own.rank <> last_call.rank
    INNER JOIN clocks AS own_clock ON own.rank = own_clock.rank
    INNER JOIN clocks AS last_clock ON last_call.rank = last_clock.rank
    INNER JOIN path_steps
        ON
            own.source_id = path_steps.source_id
            AND own.step IS NOT DISTINCT FROM path_steps.step
    INNER JOIN path_steps AS last_steps
        ON
            last_call.source_id = last_steps.source_id
            AND last_call.step IS NOT DISTINCT FROM last_steps.step
            AND path_steps.step IS NOT DISTINCT FROM last_steps.step
    WHERE
        last_call.is_last
        AND (
            (own.peer_rank IS NULL AND last_call.peer_rank IS NULL)
            OR (
                own.peer_rank = last_call.rank
                AND last_call.peer_rank = own.rank
                AND own.kind <> last_call.kind
            )
        )
        AND own.wait_ns > greatest(
            coalesce(own.ends_spread_ns, 0),
            if(
                own_clock.clock = last_clock.clock,
                0,
                sqrt(pow(own.uncertainty_ns, 2) + pow(last_call.uncertainty_ns, 2))
            )
        )
        AND last_call.start_ns > last_steps.start_ns
        AND last_call.start_ns <= last_steps.end_ns
)

SELECT
    waits.path,
    waits.at_ns,
    arg_min(waits.to_path, waits.collective_id) AS to_path,
    min(waits.collective_id) AS collective_id
FROM waits
ASOF INNER JOIN path_edges AS edge
    ON waits.path = edge.path AND waits.wait_end_ns > edge.start_ns
LEFT JOIN complete AS op ON edge.op_id = op.event_id
WHERE
    edge.event_id = waits.collective_id
    OR (
        waits.is_of_host
        AND edge.kind = 'host'
        AND edge.start_ns + edge.dur_ns >= waits.end_ns
        AND (op.event_id IS NULL OR is_wrapper(op.name) OR starts_with(op.name, 'c10d::'))
    )
GROUP BY waits.path, waits.at_ns;
