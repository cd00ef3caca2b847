-- Segments of device memory that the allocator held when the snapshot was taken.
-- One row: a segment.
--
-- run_id, source_id, rank, device_id, device_type, device
-- segment_id       number of the segment in the file
-- address          start address of the segment
-- bytes            size of the segment, bytes
-- allocated_bytes  bytes in allocated blocks
-- active_bytes     bytes in blocks that are allocated or have a pending free
-- requested_bytes  bytes that were requested for the active blocks
-- stream           stream that the segment was allocated for
-- kind             small or large
-- pool             ids of the private pool; (0, 0) is the common pool; null in old files
-- is_expandable    whether the segment can grow; null in old files
-- page_bytes       size of the pages that the allocator can give back to the device while the
--                  segment is in use, bytes; null if the segment is not expandable
-- stack_id         stack that made the allocator request the segment (`stacks.stack_id`); null if
--                  none was recorded
SELECT
    segment.source_id,
    sources.rank,
    memory_device_id(sources.rank, segment.device_label) AS device_id,
    device_type_of(segment.device_label) AS device_type,
    device_of(segment.device_label) AS device,
    segment.segment_id,
    segment.address,
    segment.bytes,
    segment.allocated_bytes,
    segment.active_bytes,
    segment.requested_bytes,
    segment.stream,
    segment.kind,
    segment.pool,
    segment.is_expandable,
    CASE WHEN segment.is_expandable THEN segment_page_bytes(segment.kind, settings.settings) END
        AS page_bytes,
    segment.stack_id
FROM staged_segments AS segment
INNER JOIN staged_sources AS sources USING (source_id)
LEFT JOIN staged_settings AS settings USING (source_id);
