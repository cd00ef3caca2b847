-- The number of each collective in its process group, the same on all ranks.
-- One row: a collective or point-to-point call of a known group; `ordinal` is null if the number is
-- unknown. Point-to-point calls are numbered for each pair of ranks.
-- Materialised: several relations read it.
WITH
numbered AS (
    SELECT
        places.collective_id,
        places.process_group_id,
        places.cycle,
        CASE
            WHEN places.has_seq THEN places.seq
            WHEN places.rank = places.first_rank THEN places.place
            ELSE places.place + shifts.shift
        END AS number,
        places.has_seq,
        coalesce(shifts.is_ambiguous, FALSE) AS is_ambiguous
    FROM collective_places AS places
    LEFT JOIN collective_shifts AS shifts USING (process_group_id, cycle, rank)
),

-- The n-th send belongs to the n-th receive.
pairs AS (
    SELECT
        collective_id,
        process_group_id,
        cycle,
        kind,
        source_rank,
        target_rank,
        row_number() OVER (
            PARTITION BY process_group_id, cycle, source_rank, target_rank, kind
            ORDER BY start_ns, collective_id
        ) AS number,
        count(*) FILTER (WHERE kind = 'send') OVER of_pair AS sends,
        count(*) FILTER (WHERE kind = 'recv') OVER of_pair AS receives
    FROM collective_calls
    WHERE
        process_group_id IS NOT NULL
        AND kind IN ('send', 'recv')
        AND source_rank IS NOT NULL
        AND target_rank IS NOT NULL
    WINDOW of_pair AS (PARTITION BY process_group_id, cycle, source_rank, target_rank)
)

SELECT
    collective_id,
    -- Without recorded numbers, they begin at 1.
    if(
        has_seq,
        number,
        number - min(number) OVER (PARTITION BY process_group_id, cycle) + 1
    )::BIGINT AS ordinal,
    is_ambiguous
FROM numbered
UNION ALL BY NAME
SELECT
    collective_id,
    if(sends = receives, number, NULL) AS ordinal,
    sends > 0 AND receives > 0 AND sends <> receives AS is_ambiguous
FROM pairs;
