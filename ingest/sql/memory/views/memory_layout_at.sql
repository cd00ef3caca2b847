-- How the memory that the allocators held was used at any number of moments:
-- `memory_layout_at(moments)`. The argument is the name of a relation with rows of
-- `memory_timeline`. The layout is replayed from the actions: allocations have their requested
-- sizes, and bytes added by rounding count as free. Adjacent expandable segments count as one.
-- One row: a block of a segment at a moment: an allocation, or the free memory between two.
--
-- run_id, source_id, device_id
-- device_type    cuda, xpu, …
-- device
-- ordinal        the moment (`memory_timeline.ordinal`)
-- segment_address, segment_bytes
-- page_bytes     size of the pages that can be released while the segment is in use, bytes; null if
--                it is not expandable
-- address        start address of the block
-- bytes          size of the block, bytes
-- state          allocated, pending if a free had been requested, or free
-- allocation_id  the allocation (`memory_allocations.allocation_id`); null for free memory
-- user_frame     line of the user's code that allocated the block
CREATE MACRO memory_layout_at(moments) AS TABLE
    WITH
    layout_moments AS NOT MATERIALIZED (FROM query_table(moments)),

    held AS (
        SELECT
            run_id,
            source_id,
            device_id,
            device_type,
            device,
            ordinal,
            address,
            address + bytes::UBIGINT AS until_address,
            page_bytes,
            is_expandable
            AND lag(is_expandable) OVER in_space
            AND lag(until_address) OVER in_space = address AS continues
        FROM memory_held_at('layout_moments', 'memory_reservations')
        WINDOW
            in_space AS (PARTITION BY run_id, source_id, device_id, ordinal ORDER BY address)
    ),

    numbered AS (
        SELECT
            *,
            sum(if(continues, 0, 1)) OVER (
                PARTITION BY run_id, source_id, device_id, ordinal
                ORDER BY address ROWS UNBOUNDED PRECEDING
            ) AS segment
        FROM held
    ),

    segments AS NOT MATERIALIZED (
        SELECT
            * EXCLUDE (address, until_address, page_bytes, continues),
            min(address) AS address,
            max(until_address) AS until_address,
            min(page_bytes) AS page_bytes
        FROM numbered
        GROUP BY ALL
    ),

    placed AS (
        SELECT
            segments.* EXCLUDE (segment, address, until_address),
            segments.address AS segment_address,
            segments.until_address AS segment_until,
            used.allocation_id,
            used.address,
            used.bytes,
            used.state,
            used.user_frame
        FROM memory_allocations_at('layout_moments') AS used
        ASOF INNER JOIN segments
            ON
                used.run_id = segments.run_id
                AND used.source_id = segments.source_id
                AND used.device_id = segments.device_id
                AND used.ordinal = segments.ordinal
                AND used.address >= segments.address
        WHERE used.bytes > 0 AND used.address < segments.until_address
    ),

    -- A gap can follow each allocation, and the start of each segment.
    blocks AS (
        FROM placed
        UNION ALL BY NAME
        SELECT
            * EXCLUDE (segment, until_address),
            address AS segment_address,
            until_address AS segment_until,
            0 AS bytes
        FROM segments
    ),

    followed AS (
        SELECT
            *,
            address + bytes::UBIGINT AS end_address,
            least(lead(address, 1, segment_until) OVER in_segment, segment_until) AS next_address
        FROM blocks
        WINDOW
            in_segment AS (
                PARTITION BY run_id, source_id, device_id, ordinal, segment_address
                ORDER BY address, bytes
            )
    ),

    blocks_and_gaps AS (
        SELECT
            run_id,
            source_id,
            device_id,
            device_type,
            device,
            ordinal,
            segment_address,
            (segment_until - segment_address)::BIGINT AS segment_bytes,
            page_bytes,
            unnest([
                struct_pack(address, bytes, state, allocation_id, user_frame),
                struct_pack(
                    address := end_address,
                    bytes := (next_address::HUGEINT - end_address)::BIGINT,
                    state := 'free',
                    allocation_id := NULL,
                    user_frame := NULL
                )
            ]) AS block
        FROM followed
    )

    SELECT * EXCLUDE (block), block.*
    FROM blocks_and_gaps
    WHERE block.bytes > 0;
