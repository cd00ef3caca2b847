-- How the memory that the allocators held was used at any number of moments:
-- `memory_layouts(moments)`, with the name of a relation of (run_id, source_id, device, ordinal):
-- after which action of a device; -1 is before the first. See `memory_layout`.
-- One row: a piece of a segment, an allocation or free memory between two, at a moment.
--
-- run_id           the run
-- source_id        the input file
-- device           device, as PyTorch names it
-- ordinal          the moment
-- segment_address  where its segment begins
-- segment_bytes    size of the segment, bytes
-- address          where the piece begins
-- bytes            its size, bytes
-- state            allocated; pending where a free had been requested; free
-- element_id       the allocation, in `memory_elements`; null for free memory
-- site             line of the user's code that allocated it
CREATE MACRO memory_layouts(moments) AS TABLE
    WITH
    held AS (
        SELECT
            moment.run_id,
            moment.source_id,
            moment.device,
            moment.ordinal,
            held.address,
            held.address + held.bytes::UBIGINT AS until_address,
            held.is_expandable
            AND lag(held.is_expandable) OVER in_space
            AND lag(held.address + held.bytes::UBIGINT) OVER in_space = held.address AS continues
        FROM query_table(moments) AS moment
        INNER JOIN memory_held AS held
            ON
                moment.run_id = held.run_id
                AND moment.source_id = held.source_id
                AND moment.device = held.device
                AND moment.ordinal >= coalesce(held.birth_ordinal, -1)
                AND moment.ordinal < coalesce(held.death_ordinal, 9223372036854775807)
        WINDOW
            in_space AS (
                PARTITION BY moment.run_id, moment.source_id, moment.device, moment.ordinal
                ORDER BY held.address
            )
    ),

    numbered AS (
        SELECT
            *,
            sum(if(continues, 0, 1)) OVER (
                PARTITION BY run_id, source_id, device, ordinal
                ORDER BY address ROWS UNBOUNDED PRECEDING
            ) AS segment
        FROM held
    ),

    segments AS NOT MATERIALIZED (
        SELECT
            run_id,
            source_id,
            device,
            ordinal,
            min(address) AS address,
            max(until_address) AS until_address
        FROM numbered
        GROUP BY run_id, source_id, device, ordinal, segment
    ),

    used AS (
        SELECT
            moment.run_id,
            moment.source_id,
            moment.device,
            moment.ordinal,
            element.element_id,
            element.address,
            element.bytes,
            if(element.requested_ordinal <= moment.ordinal, 'pending', 'allocated') AS state,
            stacks.site
        FROM query_table(moments) AS moment
        INNER JOIN memory_elements AS element
            ON
                moment.run_id = element.run_id
                AND moment.source_id = element.source_id
                AND moment.device = element.device
                AND moment.ordinal >= coalesce(element.birth_ordinal, -1)
                AND moment.ordinal < coalesce(element.death_ordinal, 9223372036854775807)
        LEFT JOIN stacks ON element.run_id = stacks.run_id AND element.stack_id = stacks.stack_id
        WHERE element.bytes > 0
    ),

    placed AS (
        SELECT
            used.*,
            segments.address AS segment_address,
            segments.until_address AS segment_until
        FROM used
        ASOF INNER JOIN segments
            ON
                used.run_id = segments.run_id
                AND used.source_id = segments.source_id
                AND used.device = segments.device
                AND used.ordinal = segments.ordinal
                AND used.address >= segments.address
        WHERE used.address < segments.until_address
    ),

    -- After each allocation, and after each segment's very start, there may be a gap.
    pieces AS (
        FROM placed
        UNION ALL BY NAME
        SELECT
            run_id,
            source_id,
            device,
            ordinal,
            address AS segment_address,
            until_address AS segment_until,
            address,
            0 AS bytes
        FROM segments
    ),

    followed AS (
        SELECT
            *,
            address + bytes::UBIGINT AS end_address,
            least(lead(address, 1, segment_until) OVER in_segment, segment_until) AS next_address
        FROM pieces
        WINDOW
            in_segment AS (
                PARTITION BY run_id, source_id, device, ordinal, segment_address
                ORDER BY address, bytes
            )
    ),

    told AS (
        SELECT
            run_id,
            source_id,
            device,
            ordinal,
            segment_address,
            (segment_until - segment_address)::BIGINT AS segment_bytes,
            unnest([
                struct_pack(
                    address := address,
                    bytes := bytes,
                    state := state,
                    element_id := element_id,
                    site := site
                ),
                struct_pack(
                    address := end_address,
                    bytes := (next_address::HUGEINT - end_address)::BIGINT,
                    state := 'free',
                    element_id := NULL,
                    site := NULL
                )
            ]) AS piece
        FROM followed
    )

    SELECT
        run_id,
        source_id,
        device,
        ordinal,
        segment_address,
        segment_bytes,
        piece.address,
        piece.bytes,
        piece.state,
        piece.element_id,
        piece.site
    FROM told
    WHERE piece.bytes > 0;
