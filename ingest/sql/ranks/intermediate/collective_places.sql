-- The order of the collectives of each rank in its process group, and what it is compared with.
-- One row: a collective of a known group, without point-to-point calls.
-- Materialised: several relations read it.
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
    count(seq) OVER of_group = count(*) OVER of_group AS has_seq,
    min(rank) OVER of_group AS first_rank
FROM collective_calls
WHERE process_group_id IS NOT NULL AND NOT is_point_to_point AND kind IS NOT NULL
WINDOW
    of_group AS (PARTITION BY process_group_id, cycle),
    in_order AS (PARTITION BY process_group_id, cycle, rank ORDER BY start_ns, collective_id);
