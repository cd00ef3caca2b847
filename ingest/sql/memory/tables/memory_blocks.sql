-- Blocks that the segments consisted of when the snapshot was taken.
-- One row: a block.
--
-- run_id, source_id, rank, device_id, device_type, device
-- segment_id       segment that contains the block (`memory_segments.segment_id`)
-- address          start address of the block
-- bytes            size of the block, bytes
-- requested_bytes  requested size, bytes; of an inactive block, the size that was requested last
-- state            active_allocated, active_pending_free (freed, but a stream may still use it) or
--                  inactive
-- stack_id         stack that allocated the block (`stacks.stack_id`); null if none was recorded
SELECT
    block.source_id,
    sources.rank,
    memory_device_id(sources.rank, block.device_label) AS device_id,
    device_type_of(block.device_label) AS device_type,
    device_of(block.device_label) AS device,
    block.segment_id,
    block.address,
    block.bytes,
    block.requested_bytes,
    block.state,
    block.stack_id
FROM staged_blocks AS block
INNER JOIN staged_sources AS sources USING (source_id);
