-- Ranks that take part in a call that was not done when the dumps were written: who waits, and who
-- has not come.
-- One row: a rank of a process group, for the group's first collective that is not done; or the
-- sender or the receiver of a point-to-point call that is not done.
--
-- run_id, process_group
-- collective_seq      number of the collective in the group; null for point-to-point calls
-- source_rank, destination_rank
-- rank
-- role                waiting: it has enqueued the call. absent: it has not. passed: the call is
--                     done there. missing: it has no dump
-- missing_reason      why it has no dump: `no dump` or `unreadable`; null if it has one
-- record_id           the call, if the rank waits (`flight_records.record_id`); else null
-- kind                kind of that call
-- input_sizes         shapes of the call's inputs
-- caller_frame        innermost line of the user's code around the call; null if not recorded
-- created_ns          Unix time at which the rank enqueued the call, ns
-- is_timed_out        whether the call timed out; null if the rank does not wait
-- last_record_id      the last call of the rank in any group (`flight_records.record_id`); null if
--                     it has no dump, or if the dump is empty
-- last_process_group  group of that last call
-- last_kind           kind of that call
-- last_seq            number of that call in its group: of a collective, or of a point-to-point
--                     call
-- last_frame          innermost line of the user's code around that call; null if not recorded
-- is_last_done        whether that call is done
WITH
calls AS (SELECT * FROM flight_records WHERE is_used),

lasts AS (
    SELECT
        run_id,
        rank,
        max(record_id) AS last_record_id,
        arg_max(process_group, record_id) AS last_process_group,
        arg_max(kind, record_id) AS last_kind,
        arg_max_null(if(is_p2p, p2p_seq, collective_seq), record_id) AS last_seq,
        arg_max_null(caller_frame, record_id) AS last_frame,
        arg_max(is_done, record_id) AS is_last_done
    FROM calls
    GROUP BY run_id, rank
),

unfinished AS (
    SELECT
        run_id,
        process_group,
        collective_seq,
        any_value(kind) AS kind,
        count(DISTINCT rank) AS waiting
    FROM calls
    WHERE NOT is_p2p AND NOT is_done AND collective_seq IS NOT NULL
    GROUP BY run_id, process_group, collective_seq
),

-- Collectives that end together are done if they are done on one rank. The others have not noticed
-- it yet.
candidates AS (
    SELECT
        unfinished.run_id,
        unfinished.process_group,
        unfinished.collective_seq
    FROM unfinished
    INNER JOIN flight_positions AS positions USING (run_id, process_group)
    GROUP BY
        unfinished.run_id,
        unfinished.process_group,
        unfinished.collective_seq,
        unfinished.kind,
        unfinished.waiting
    HAVING
        NOT coalesce(ends_together(unfinished.kind), FALSE)
        OR count(*) FILTER (
            WHERE
            positions.missing_reason IS NULL
            AND positions.last_enqueued_seq >= unfinished.collective_seq
        ) <= unfinished.waiting
),

first_unfinished AS (
    SELECT
        run_id,
        process_group,
        min(collective_seq) AS collective_seq
    FROM candidates
    GROUP BY run_id, process_group
),

of_collectives AS (
    SELECT
        positions.run_id,
        positions.process_group,
        first_unfinished.collective_seq,
        NULL::INTEGER AS source_rank,
        NULL::INTEGER AS destination_rank,
        positions.rank,
        positions.missing_reason,
        CASE
            WHEN positions.missing_reason IS NOT NULL THEN 'missing'
            WHEN bool_or(calls.rank IS NOT NULL) THEN 'waiting'
            WHEN positions.last_enqueued_seq >= first_unfinished.collective_seq THEN 'passed'
            ELSE 'absent'
        END AS role
    FROM flight_positions AS positions
    INNER JOIN first_unfinished USING (run_id, process_group)
    LEFT JOIN calls
        ON
            positions.run_id = calls.run_id
            AND positions.process_group = calls.process_group
            AND positions.rank = calls.rank
            AND first_unfinished.collective_seq = calls.collective_seq
            AND NOT calls.is_p2p
            AND NOT calls.is_done
    GROUP BY
        positions.run_id,
        positions.process_group,
        first_unfinished.collective_seq,
        positions.rank,
        positions.missing_reason,
        positions.last_enqueued_seq
),

direct AS (
    SELECT
        *,
        if(kind = 'send', rank, peer_rank) AS source_rank,
        if(kind = 'send', peer_rank, rank) AS destination_rank
    FROM calls
    WHERE is_p2p AND NOT is_done AND kind IN ('send', 'recv')
),

waited AS (
    SELECT run_id, process_group, source_rank, destination_rank, list(DISTINCT rank) AS ranks
    FROM direct
    GROUP BY ALL
),

of_pairs AS (
    SELECT
        waited.run_id,
        waited.process_group,
        NULL::BIGINT AS collective_seq,
        waited.source_rank,
        waited.destination_rank,
        ends.rank,
        CASE
            WHEN dumps.rank IS NOT NULL THEN NULL
            ELSE coalesce(positions.missing_reason, 'no dump')
        END AS missing_reason,
        CASE
            WHEN list_contains(waited.ranks, ends.rank) THEN 'waiting'
            WHEN dumps.rank IS NULL THEN 'missing'
            ELSE 'absent'
        END AS role
    FROM waited
    CROSS JOIN unnest(list_distinct([waited.source_rank, waited.destination_rank])) AS ends (rank)
    LEFT JOIN flight_dumps AS dumps
        ON waited.run_id = dumps.run_id AND ends.rank = dumps.rank AND dumps.is_latest
    LEFT JOIN flight_positions AS positions
        ON
            waited.run_id = positions.run_id
            AND waited.process_group = positions.process_group
            AND ends.rank = positions.rank
),

parts AS (
    FROM of_collectives
    UNION ALL BY NAME
    FROM of_pairs
),

waits AS (
    SELECT
        run_id,
        process_group,
        CASE WHEN NOT is_p2p THEN collective_seq END AS collective_seq,
        CASE WHEN is_p2p THEN if(kind = 'send', rank, peer_rank) END AS source_rank,
        CASE WHEN is_p2p THEN if(kind = 'send', peer_rank, rank) END AS destination_rank,
        rank,
        min(record_id) AS record_id
    FROM calls
    WHERE NOT is_done AND (kind IN ('send', 'recv') OR NOT is_p2p)
    GROUP BY ALL
)

SELECT
    parts.run_id,
    parts.process_group,
    parts.collective_seq,
    parts.source_rank,
    parts.destination_rank,
    parts.rank,
    parts.role,
    parts.missing_reason,
    calls.record_id,
    calls.kind,
    calls.input_sizes,
    calls.caller_frame,
    calls.created_ns,
    calls.is_timed_out,
    lasts.last_record_id,
    lasts.last_process_group,
    lasts.last_kind,
    lasts.last_seq,
    lasts.last_frame,
    lasts.is_last_done
FROM parts
LEFT JOIN waits
    ON
        parts.run_id = waits.run_id
        AND parts.process_group = waits.process_group
        AND parts.rank = waits.rank
        AND parts.collective_seq IS NOT DISTINCT FROM waits.collective_seq
        AND parts.source_rank IS NOT DISTINCT FROM waits.source_rank
        AND parts.destination_rank IS NOT DISTINCT FROM waits.destination_rank
LEFT JOIN calls
    ON
        waits.run_id = calls.run_id
        AND waits.rank = calls.rank
        AND waits.record_id = calls.record_id
LEFT JOIN lasts ON parts.run_id = lasts.run_id AND parts.rank = lasts.rank;
