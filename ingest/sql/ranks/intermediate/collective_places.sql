-- The order of the collectives of each rank in its process group, and what it is compared with.
-- One row: a collective of a known group, without point-to-point calls.
-- Materialised: several relations read it.
WITH
calls AS (
    SELECT *
    FROM collective_calls
    WHERE process_group_id IS NOT NULL AND NOT is_point_to_point AND kind IS NOT NULL
),

-- Several kernels of a call have the same number.
numbered AS (
    SELECT
        process_group_id,
        cycle,
        count(seq) = count(*)
        AND count(DISTINCT struct_pack(rank, seq)) = count(*) AS has_seq,
        min(rank) AS first_rank
    FROM calls
    GROUP BY process_group_id, cycle
)

SELECT
    process_group_id,
    cycle,
    rank,
    collective_id,
    kind,
    dtype,
    if(has_splits, NULL, in_elements) AS in_elements,
    start_ns + dur_ns AS end_ns,
    row_number() OVER in_order AS place,
    seq,
    has_seq,
    first_rank
FROM calls
INNER JOIN numbered USING (process_group_id, cycle)
WINDOW
    in_order AS (PARTITION BY process_group_id, cycle, rank ORDER BY start_ns, collective_id);
