-- By how many collectives the recordings of two ranks are shifted, where no numbers are recorded.
-- One row: a rank of a process group, and the shift to the first rank of the group. `shift` is null
-- if none fits, or if two fit equally well (`is_ambiguous`).
-- Materialised: it is joined, and DuckDB then knows its size.
--
-- A shift fits if the kinds, types and sizes of all collectives agree, and if the ends of the two
-- ranks differ by a nearly constant time (between the first and the last tenth). In a regular loop
-- several shifts do, so the one whose clocks differ least is right. If another one differs less
-- than twice as much, both are possible.
WITH
shifted AS (
    SELECT
        mine.process_group_id,
        mine.cycle,
        mine.rank,
        shift,
        bool_and(
            mine.kind = first.kind
            AND mine.dtype IS NOT DISTINCT FROM first.dtype
            AND mine.in_elements IS NOT DISTINCT FROM first.in_elements
        ) AS agrees,
        count(*) AS compared,
        median(mine.end_ns - first.end_ns) AS offset_ns,
        quantile_cont(mine.end_ns - first.end_ns, [0.1, 0.9]) AS range_ns,
        range_ns[2] - range_ns[1] AS spread_ns
    FROM collective_places AS mine
    CROSS JOIN (SELECT unnest(range(-3, 4)) AS shift) AS shifts
    INNER JOIN collective_places AS first
        ON
            mine.process_group_id = first.process_group_id
            AND mine.cycle = first.cycle
            AND mine.first_rank = first.rank
            AND mine.place + shift = first.place
    WHERE mine.rank <> mine.first_rank AND NOT mine.has_seq
    GROUP BY mine.process_group_id, mine.cycle, mine.rank, shift
),

-- A shift that compares few collectives fits by chance.
fitting AS (
    SELECT *
    FROM shifted
    WHERE agrees
    WINDOW of_rank AS (PARTITION BY process_group_id, cycle, rank)
    QUALIFY compared >= 0.7 * max(compared) OVER of_rank
),

plausible AS (
    SELECT *
    FROM fitting
    WINDOW of_rank AS (PARTITION BY process_group_id, cycle, rank)
    QUALIFY spread_ns <= 3 * greatest(min(spread_ns) OVER of_rank, 5_000)
),

chosen AS (
    SELECT
        process_group_id,
        cycle,
        rank,
        arg_min(shift, (abs(offset_ns), shift)) AS shift,
        min(abs(offset_ns), 2) AS least_ns
    FROM plausible
    GROUP BY process_group_id, cycle, rank
)

SELECT
    process_group_id,
    cycle,
    rank,
    coalesce(least_ns[2] < 2 * least_ns[1], FALSE) AS is_ambiguous,
    if(is_ambiguous, NULL, shift) AS shift
FROM chosen;
