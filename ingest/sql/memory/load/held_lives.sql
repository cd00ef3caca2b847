-- Stretches of device memory that the allocator held, each from the allocation of its segment to
-- its release.
-- One row: a segment or a part of an expandable one; `birth` and `death` are ordinals of actions.
-- Materialised: its reader joins it, and DuckDB then knows its size.
WITH
turns AS (
    SELECT
        *,
        lead(is_birth) OVER at_address AS next_is_birth,
        lead(ordinal) OVER at_address AS next_ordinal,
        lag(is_birth) OVER at_address AS last_is_birth
    FROM held_parts
    WHERE ordinal IS NOT NULL
    WINDOW at_address AS (PARTITION BY source_id, device, address ORDER BY ordinal)
),

changed AS (
    SELECT
        source_id,
        device,
        address,
        bytes,
        stream,
        pool,
        stack_id,
        is_part,
        CASE WHEN is_birth THEN ordinal END AS birth,
        CASE WHEN NOT is_birth THEN ordinal WHEN next_is_birth IS FALSE THEN next_ordinal END
            AS death
    FROM turns
    WHERE is_birth OR last_is_birth IS NOT TRUE
)

FROM changed
UNION ALL BY NAME
SELECT
    source_id,
    device,
    address,
    bytes,
    stream,
    pool,
    stack_id,
    is_part,
    NULL AS birth,
    NULL AS death
FROM held_parts AS held
WHERE
    ordinal IS NULL
    AND NOT EXISTS (
        FROM changed
        WHERE
            changed.source_id = held.source_id
            AND changed.device = held.device
            AND changed.address = held.address
            AND changed.death IS NULL
    );
