-- What the segments were divided into when the snapshot was taken.
-- One row: a block.
--
-- run_id           the run
-- source_id        the input file
-- rank             rank of the process
-- device_type      cuda, cpu, xpu, …
-- device           number of the device; null for the CPU
-- segment_id       the segment it lies in (`memory_segments.segment_id`)
-- address          where it begins
-- bytes            its size, bytes
-- requested_bytes  what was asked for; of an inactive block, when it was last used
-- state            active_allocated, active_pending_free (freed, but a stream may still use it) or
--                  inactive
-- stack_id         stack that allocated it (`stacks.stack_id`); null where none was recorded
SELECT
    block.source_id,
    sources.rank,
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
