-- Stretches of device memory that the allocator held, each from its segment's allocation to its
-- release: whole segments, and of expandable ones the parts that were mapped together.
-- One row: a stretch.
--
-- run_id         the run
-- source_id      the input file
-- rank           rank of the process
-- device         device, as PyTorch names it
-- address        where it begins
-- bytes          its size, bytes
-- birth_ordinal  actions of the device before it was allocated; null before the trace
-- death_ordinal  actions before it was released; null where it was held to the end
-- stream         stream it was allocated for
-- pool           ids of its private pool, where known; (0, 0) is the common one
-- is_expandable  whether it is part of a segment that can grow
-- stack_id       stack that made the allocator ask for it
SELECT
    held.source_id,
    sources.rank,
    held.device,
    held.address,
    held.bytes,
    held.birth AS birth_ordinal,
    held.death AS death_ordinal,
    coalesce(held.stream, segment.stream) AS stream,
    coalesce(
        held.pool,
        CASE WHEN held.address < segment.address + segment.bytes::UBIGINT THEN segment.pool END
    ) AS pool,
    held.is_part AS is_expandable,
    held.stack_id
FROM held_lives AS held
INNER JOIN staged_sources AS sources USING (source_id)
ASOF LEFT JOIN staged_segments AS segment
    ON
        held.source_id = segment.source_id
        AND held.device = segment.device
        AND held.address >= segment.address;
