-- Ranges of device memory that the allocator held, each from the allocation of its segment to its
-- release.
-- One row: a segment, or a part of an expandable one; `alloc_ordinal` and `free_ordinal` are the
-- actions that begin and end it.
-- Materialised: DuckDB then knows its size when it plans a join.
WITH
turns AS (
    SELECT
        *,
        lead(is_alloc) OVER at_address AS next_is_alloc,
        lead(ordinal) OVER at_address AS next_ordinal,
        lag(is_alloc) OVER at_address AS last_is_alloc
    FROM reserved_parts
    WHERE ordinal IS NOT NULL
    WINDOW at_address AS (PARTITION BY source_id, device_label, address ORDER BY ordinal)
),

changed AS (
    SELECT
        * EXCLUDE (ordinal, until_address, is_alloc, next_is_alloc, next_ordinal, last_is_alloc),
        CASE WHEN is_alloc THEN ordinal END AS alloc_ordinal,
        CASE WHEN NOT is_alloc THEN ordinal WHEN next_is_alloc IS FALSE THEN next_ordinal END
            AS free_ordinal
    FROM turns
    WHERE is_alloc OR last_is_alloc IS NOT TRUE
)

FROM changed
UNION ALL BY NAME
SELECT * EXCLUDE (ordinal, until_address, is_alloc)
FROM reserved_parts AS held
WHERE
    ordinal IS NULL
    AND NOT EXISTS (
        FROM changed
        WHERE
            changed.source_id = held.source_id
            AND changed.device_label = held.device_label
            AND changed.address = held.address
            AND changed.free_ordinal IS NULL
    );
