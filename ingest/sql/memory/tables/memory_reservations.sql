-- Ranges of device memory that the allocator held, each from its allocation to its release. A range
-- is a segment, or a part of an expandable segment that was mapped as a unit.
-- One row: a range.
--
-- run_id, source_id, rank, device_id, device_type, device
-- address        start address of the range
-- bytes          size of the range, bytes
-- alloc_ordinal  action that allocated the range (`memory_events.ordinal`); null if that was before
--                the trace
-- free_ordinal   action that released the range (`memory_events.ordinal`); null if it was held to
--                the end
-- stream         stream that the range was allocated for
-- pool           ids of the private pool, if known; (0, 0) is the common pool
-- is_expandable  whether the range is part of a segment that can grow
-- page_bytes     size of the pages that can be released while the segment is in use, bytes; null if
--                it is not expandable. If the segment was released before the end, the size of the
--                range shows which of the two sizes it is
-- stack_id       stack that made the allocator request the range (`stacks.stack_id`)
WITH
held_in_segment AS (
    SELECT
        held.*,
        segment.stream AS segment_stream,
        segment.pool AS segment_pool,
        segment.kind AS segment_kind,
        held.address < segment.address + segment.bytes::UBIGINT AS is_in_segment
    FROM reservations AS held
    ASOF LEFT JOIN staged_segments AS segment
        ON
            held.source_id = segment.source_id
            AND held.device_label = segment.device_label
            AND held.address >= segment.address
)

SELECT
    held.source_id,
    sources.rank,
    memory_device_id(sources.rank, held.device_label) AS device_id,
    device_type_of(held.device_label) AS device_type,
    device_of(held.device_label) AS device,
    held.address,
    held.bytes,
    held.alloc_ordinal,
    held.free_ordinal,
    coalesce(held.stream, held.segment_stream) AS stream,
    coalesce(held.pool, CASE WHEN held.is_in_segment THEN held.segment_pool END) AS pool,
    held.is_expandable,
    CASE
        WHEN held.is_expandable
            THEN segment_page_bytes(
                CASE
                    WHEN held.is_in_segment THEN held.segment_kind
                    WHEN held.bytes % segment_page_bytes('large', settings.settings) > 0
                        THEN 'small'
                END,
                settings.settings
            )
    END AS page_bytes,
    held.stack_id
FROM held_in_segment AS held
INNER JOIN staged_sources AS sources USING (source_id)
LEFT JOIN staged_settings AS settings USING (source_id);
