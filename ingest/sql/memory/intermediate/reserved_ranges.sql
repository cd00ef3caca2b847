-- Ranges of device memory that the allocator reserved or released, and those that it held when the
-- snapshot was taken. Expandable segments are mapped and unmapped in parts.
-- One row: an action on a segment or on a part of one, or a segment of the snapshot.
-- Materialised: it is read more than once.
SELECT
    source_id,
    device_label,
    ordinal,
    address,
    address + bytes::UBIGINT AS until_address,
    bytes,
    stream,
    pool,
    stack_id,
    action IN ('segment_alloc', 'segment_map') AS is_alloc,
    coalesce(is_expandable, action IN ('segment_map', 'segment_unmap'), FALSE) AS is_expandable
FROM (
    FROM memory_actions
    WHERE action IN ('segment_alloc', 'segment_free', 'segment_map', 'segment_unmap')
    UNION ALL BY NAME
    FROM staged_segments
);
