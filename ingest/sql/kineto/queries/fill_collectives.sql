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
        within(a."Group size", 1, 1_000_000) AS group_size,
        try_cast(a."Process Group Ranks" AS INTEGER[]) AS listed
    FROM recorded
)

SELECT
    $source_id AS source_id,
    event_id,
    collective,
    a."Process Group Name" AS group_name,
    a."Process Group Description" AS group_description,
    group_size,
    CASE WHEN len(listed) = group_size THEN list_sort(listed) END AS group_ranks,
    within(a."Global rank start", 0, 999_999) AS first_rank,
    within(a."Global rank stride", 1, 999_999) AS rank_stride,
    a.seq,
    nullif(a.dtype, '') AS dtype,
    within(a."In msg nelems", 0, 281_474_976_710_656) AS in_elements,
    within(a."Out msg nelems", 0, 281_474_976_710_656) AS out_elements,
    try_cast(a."In split size" AS BIGINT[]) AS in_splits,
    try_cast(a."Out split size" AS BIGINT[]) AS out_splits,
    within(a.rank, 0, 999_999) AS root_rank,
    within(a."Src Rank", 0, 999_999) AS source_rank,
    within(a."Dst Rank", 0, 999_999) AS target_rank
FROM grouped
WHERE collective IS NOT NULL;
