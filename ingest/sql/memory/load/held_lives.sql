-- Stretches of device memory that the allocator held, each from its segment's birth to its death.
--
-- Segments are allocated and freed whole. Expandable ones are mapped and unmapped in parts of any
-- size: their ranges are cut at every edge of any range; the parts live and die like segments.

CREATE TABLE held_ranges AS
SELECT
    source_id,
    device,
    ordinal,
    address,
    address + bytes::UBIGINT AS until_address,
    bytes,
    stream,
    pool,
    stack_id,
    action IN ('segment_alloc', 'segment_map') AS is_birth,
    action IN ('segment_map', 'segment_unmap') AS is_part
FROM staged_actions
WHERE action IN ('segment_alloc', 'segment_free', 'segment_map', 'segment_unmap')
UNION ALL
SELECT
    source_id,
    device,
    NULL AS ordinal,
    address,
    address + bytes::UBIGINT AS until_address,
    bytes,
    stream,
    pool,
    stack_id,
    NULL AS is_birth,
    coalesce(is_expandable, FALSE) AS is_part
FROM staged_segments;

CREATE TABLE held_parts AS
WITH
edges AS (
    SELECT source_id, device, address AS edge FROM held_ranges WHERE is_part
    UNION
    SELECT source_id, device, until_address AS edge FROM held_ranges WHERE is_part
),

cut AS (
    SELECT
        range.* EXCLUDE (address, until_address, bytes),
        edges.edge AS address,
        lead(edges.edge, 1, range.until_address) OVER (
            PARTITION BY
                range.source_id, range.device, range.ordinal, range.address, range.is_birth
            ORDER BY edges.edge
        ) AS until_address
    FROM held_ranges AS range
    INNER JOIN edges
        ON
            range.source_id = edges.source_id
            AND range.device = edges.device
            AND range.address <= edges.edge
            AND range.until_address > edges.edge
    WHERE range.is_part
)

SELECT *, (until_address - address)::BIGINT AS bytes FROM cut
UNION ALL BY NAME
FROM held_ranges
WHERE NOT is_part;

CREATE TABLE held_lives AS
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
