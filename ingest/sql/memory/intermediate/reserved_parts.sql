-- The ranges of `reserved_ranges`, with those of expandable segments cut at every edge of any
-- range. Such segments are mapped and unmapped in parts of any size. The parts begin and end like
-- complete segments.
-- One row: a range, or a part of one.
-- Materialised: it is read more than once.
WITH
edges AS (
    SELECT source_id, device_label, address AS edge FROM reserved_ranges WHERE is_expandable
    UNION
    SELECT source_id, device_label, until_address AS edge FROM reserved_ranges WHERE is_expandable
),

cut AS (
    SELECT
        range.* EXCLUDE (address, until_address, bytes),
        edges.edge AS address,
        lead(edges.edge, 1, range.until_address) OVER (
            PARTITION BY
                range.source_id, range.device_label, range.ordinal, range.address, range.is_alloc
            ORDER BY edges.edge
        ) AS until_address
    FROM reserved_ranges AS range
    INNER JOIN edges
        ON
            range.source_id = edges.source_id
            AND range.device_label = edges.device_label
            AND range.address <= edges.edge
            AND range.until_address > edges.edge
    WHERE range.is_expandable
)

SELECT *, (until_address - address)::BIGINT AS bytes FROM cut
UNION ALL BY NAME
FROM reserved_ranges
WHERE NOT is_expandable;
