-- Memory that the allocator held of a device when the snapshot was taken.
-- One row: a segment.
--
-- run_id           the run
-- source_id        the input file
-- rank             rank of the process
-- device_type      cuda, cpu, xpu, …
-- device           number of the device; null for the CPU
-- segment_id       number of the segment in the file
-- address          where it begins
-- bytes            its size, bytes
-- allocated_bytes  of it in blocks that are allocated
-- active_bytes     of it in blocks that are allocated, or whose free is pending
-- requested_bytes  what was asked for in the blocks that are active
-- stream           stream it was allocated for
-- kind             small or large
-- pool             ids of its private pool; (0, 0) is the common one; null in old files
-- is_expandable    whether it can grow; null in old files
-- stack_id         stack that made it grow (`stacks.stack_id`); null where none was recorded
SELECT
    segment.source_id,
    sources.rank,
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
    segment.stack_id
FROM staged_segments AS segment
INNER JOIN staged_sources AS sources USING (source_id);
