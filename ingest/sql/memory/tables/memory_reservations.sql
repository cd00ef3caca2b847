-- Stretches of device memory that the allocator held, each from its segment's allocation to its
-- release: whole segments, and of expandable ones the parts that were mapped together.
-- One row: a stretch.
--
-- run_id         the run
-- source_id      the input file
-- rank           rank of the process
-- device_type    cuda, cpu, xpu, …
-- device         number of the device; null for the CPU
-- address        where it begins
-- bytes          its size, bytes
-- alloc_ordinal  action that began it (`memory_events.ordinal`); null: before the trace
-- free_ordinal   action that ended it (`memory_events.ordinal`); null where it was held to the end
-- stream         stream it was allocated for
-- pool           ids of its private pool, where known; (0, 0) is the common one
-- is_expandable  whether it is part of a segment that can grow
-- stack_id       stack that made the allocator ask for it (`stacks.stack_id`)
SELECT
    held.source_id,
    sources.rank,
    device_type_of(held.device_label) AS device_type,
    device_of(held.device_label) AS device,
    held.address,
    held.bytes,
    held.alloc_ordinal,
    held.free_ordinal,
    coalesce(held.stream, segment.stream) AS stream,
    coalesce(
        held.pool,
        CASE WHEN held.address < segment.address + segment.bytes::UBIGINT THEN segment.pool END
    ) AS pool,
    held.is_part AS is_expandable,
    held.stack_id
FROM reservations AS held
INNER JOIN staged_sources AS sources USING (source_id)
ASOF LEFT JOIN staged_segments AS segment
    ON
        held.source_id = segment.source_id
        AND held.device_label = segment.device_label
        AND held.address >= segment.address;
