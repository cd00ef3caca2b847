-- Adds the collectives of source $source_id to `staged_collectives`.
INSERT INTO staged_collectives BY NAME
WITH
-- Materialised, so that no other arguments are parsed.
named AS MATERIALIZED (
    SELECT event_id, args
    FROM staged
    WHERE
        source_id = $source_id
        AND (side = 'device' OR name = 'record_param_comms')
        AND contains(args, '"Collective name"')
),

recorded AS (
    SELECT
        event_id,
        from_json(args, '{
            "Collective name": "VARCHAR", "Process Group Name": "VARCHAR",
            "Process Group Description": "VARCHAR", "Group size": "BIGINT",
            "Process Group Ranks": "VARCHAR", "Global rank start": "INTEGER",
            "Global rank stride": "INTEGER", "Seq": "BIGINT", "dtype": "VARCHAR",
            "In msg nelems": "BIGINT", "Out msg nelems": "BIGINT",
            "In split size": "VARCHAR", "Out split size": "VARCHAR",
            "Rank": "INTEGER", "Src Rank": "INTEGER", "Dst Rank": "INTEGER"
        }') AS a
    FROM named
),

grouped AS (
    SELECT
        event_id,
        a,
        a."Collective name" AS collective,
        a."Group size" AS group_size,
        try_cast(a."Process Group Ranks" AS INTEGER[]) AS listed,
        a."Global rank start" AS first_rank,
        a."Global rank stride" AS stride
    FROM recorded
)

SELECT
    $source_id AS source_id,
    event_id,
    collective,
    a."Process Group Name" AS group_name,
    a."Process Group Description" AS group_description,
    group_size,
    -- Long lists are cut.
    CASE
        WHEN len(listed) = group_size THEN list_sort(listed)
        WHEN stride > 0 AND group_size BETWEEN 1 AND 1_000_000
            THEN list_transform(
                range(group_size), LAMBDA place: try_cast(first_rank + place * stride AS INTEGER)
            )
    END AS group_ranks,
    a.seq,
    nullif(a.dtype, '') AS dtype,
    a."In msg nelems" AS in_elements,
    a."Out msg nelems" AS out_elements,
    try_cast(a."In split size" AS BIGINT[]) AS in_splits,
    try_cast(a."Out split size" AS BIGINT[]) AS out_splits,
    a.rank AS root_rank,
    a."Src Rank" AS source_rank,
    a."Dst Rank" AS target_rank
FROM grouped
WHERE collective IS NOT NULL;
