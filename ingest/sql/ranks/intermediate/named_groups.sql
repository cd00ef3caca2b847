-- Process groups as each input file names them.
-- One row: a name of a group in a file. `ranks` is null if the file does not have the whole list.
-- Materialised: several relations read it.
WITH
recorded AS (
    SELECT DISTINCT
        source_id,
        group_name AS name,
        group_description AS description,
        group_size,
        group_ranks,
        first_rank,
        -- The last rank must be a number of a rank.
        if(first_rank + (group_size - 1) * rank_stride < 1_000_000, rank_stride, NULL)
            AS rank_stride
    FROM staged_collectives
    WHERE group_name IS NOT NULL
),

listed AS (
    SELECT source_id, name, description, backend, group_size, ranks
    FROM staged_process_groups
    UNION ALL BY NAME
    SELECT
        source_id,
        name,
        description,
        group_size,
        coalesce(
            group_ranks,
            list_transform(
                range(group_size), LAMBDA place: (first_rank + place * rank_stride)::INTEGER
            )
        ) AS ranks
    FROM recorded
)

SELECT
    source_id,
    name,
    max(description) AS description,
    max(backend) AS backend,
    max(group_size) AS group_size,
    max(ranks) AS ranks
FROM listed
GROUP BY source_id, name;
