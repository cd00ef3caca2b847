-- Entries of dumps of the flight recorder, with the name of their group, and what shows whether
-- they are done.
-- One row: an entry.
--
-- Versions 1.x name a group by its number. Their sequence also counts point-to-point calls, which
-- differ between ranks, so it is unknown in groups that have such calls.
-- Several calls may run as one: the entries then have the same sequence number, and only the last
-- one, `coalesced`, has a state.
WITH
named AS (
    SELECT
        *,
        coalesce(group_name, pg_id::VARCHAR, 'unknown') AS name,
        coalesce(record_id, ordinal) AS number,
        recorded_call_kind(profiling_name) AS kind,
        split_part(profiling_name, ':', 1) AS backend,
        coalesce(is_p2p, recorded_call_kind(profiling_name) IN ('send', 'recv')) AS is_direct
    FROM staged_flight_records
),

counted AS (
    SELECT
        *,
        coalesce(
            collective_seq_id,
            CASE
                WHEN NOT bool_or(is_direct) OVER (PARTITION BY source_id, name) THEN seq_id
            END
        ) AS collective_seq,
        CASE WHEN is_direct THEN coalesce(p2p_seq_id, seq_id) END AS p2p_seq,
        -- Gloo records no state. NCCL also retires a call that timed out.
        state = 'completed' OR (retired AND backend = 'gloo') AS is_itself_done
    FROM named
)

SELECT
    *,
    coalesce(
        lead(ordinal) OVER in_call IS NOT NULL
        AND contains(last(lower(profiling_name)) OVER whole, 'coalesced'),
        FALSE
    ) AS is_part,
    CASE WHEN is_part THEN last(is_itself_done) OVER whole ELSE is_itself_done END AS is_done
FROM counted
WINDOW
    in_call AS (
        PARTITION BY source_id, name, is_direct, if(is_direct, p2p_seq, collective_seq)
        ORDER BY ordinal
    ),
    whole AS (
        PARTITION BY source_id, name, is_direct, if(is_direct, p2p_seq, collective_seq)
        ORDER BY ordinal
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    );
