-- How the memory that the allocator held of a device was used after any of its actions:
-- `memory_layout(run, of_source, of_device, at_ordinal)`, with -1 for the state before the first.
-- Replayed from the actions: allocations are as long as was requested, and what rounding adds to
-- them counts as free. Expandable segments that touch are one.
-- One row: a piece of a segment: an allocation, or free memory between two.
--
-- segment_address  where its segment begins
-- segment_bytes    size of the segment, bytes
-- address          where the piece begins
-- bytes            its size, bytes
-- state            allocated; pending where a free had been requested; free
-- element_id       the allocation, in `memory_elements`; null for free memory
-- site             line of the user's code that allocated it
CREATE MACRO memory_layout(run, of_source, of_device, at_ordinal) AS TABLE
    WITH asked_layout AS (
        SELECT run_id, source_id, device, at_ordinal::BIGINT AS ordinal
        FROM memory_peak
        WHERE run_id = run AND source_id = of_source AND device = of_device
    )

    SELECT segment_address, segment_bytes, address, bytes, state, element_id, site
    FROM memory_layouts('asked_layout');
