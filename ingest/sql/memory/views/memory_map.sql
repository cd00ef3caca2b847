-- The segments of a device and what was in them after any of its actions, ready to be drawn:
-- `memory_map(run, of_source, of_device, at_ordinal, most_segments, most_pieces)`. After the last
-- action of a snapshot these are its own blocks; before, they are replayed (`memory_layout`). The
-- largest segments and, in these, the largest pieces are told apart; neighbours that are smaller
-- are put together by state, so that a segment's pieces still fill it.
-- One row: a piece of a segment, or small neighbours of one state.
--
-- segment          number of the segment, from 1, the largest first
-- segment_address  where it begins
-- segment_bytes    its size, bytes
-- offset_bytes     from the segment's start to the piece
-- bytes            its size, bytes
-- state            allocated; pending; stranded: free, in a segment that holds allocations; free:
--                  in one that holds none, and that can be released
-- pieces           1, or how many neighbours were put together
-- site             line of the user's code that allocated it, of a single piece
-- is_replayed      whether it was replayed from the actions
CREATE MACRO memory_map(
    run, of_source, of_device, at_ordinal, most_segments, most_pieces
) AS TABLE
    WITH
    last_action AS (
        SELECT actions - 1 AS ordinal
        FROM memory_peak
        WHERE run_id = run AND source_id = of_source AND device = of_device
    ),

    pieces AS (
        SELECT
            segment.address AS segment_address,
            segment.bytes AS segment_bytes,
            block.address,
            block.bytes,
            CASE block.state
                WHEN 'inactive' THEN 'free'
                WHEN 'active_allocated' THEN 'allocated'
                ELSE 'pending'
            END AS state,
            stacks.site,
            FALSE AS is_replayed
        FROM memory_blocks AS block
        INNER JOIN memory_segments AS segment
            ON
                block.run_id = segment.run_id
                AND block.source_id = segment.source_id
                AND block.segment_id = segment.segment_id
        LEFT JOIN stacks ON block.run_id = stacks.run_id AND block.stack_id = stacks.stack_id
        WHERE
            block.run_id = run
            AND block.source_id = of_source
            AND block.device = of_device
            AND at_ordinal >= (SELECT ordinal FROM last_action)
        UNION ALL BY NAME
        SELECT segment_address, segment_bytes, address, bytes, state, site, TRUE AS is_replayed
        FROM memory_layout(run, of_source, of_device, at_ordinal)
        WHERE at_ordinal < (SELECT ordinal FROM last_action)
    ),

    largest AS (
        SELECT
            segment_address,
            row_number() OVER (ORDER BY any_value(segment_bytes) DESC, segment_address) AS segment,
            bool_or(state <> 'free') AS is_in_use
        FROM pieces
        GROUP BY segment_address
        ORDER BY segment
        LIMIT most_segments
    ),

    told_apart AS (
        SELECT
            pieces.*,
            largest.segment,
            if(pieces.state = 'free' AND largest.is_in_use, 'stranded', pieces.state) AS part,
            row_number() OVER (ORDER BY pieces.bytes DESC, pieces.address) <= most_pieces
                AS is_single
        FROM pieces
        INNER JOIN largest ON pieces.segment_address = largest.segment_address
    ),

    neighbours AS (
        SELECT
            *, sum(is_single::INTEGER) OVER (
                PARTITION BY segment ORDER BY address ROWS UNBOUNDED PRECEDING
            ) AS stretch
        FROM told_apart
    ),

    together AS (
        SELECT
            segment,
            segment_address,
            segment_bytes,
            stretch,
            is_single,
            part AS state,
            min(address) AS address,
            sum(bytes)::BIGINT AS bytes,
            count(*) AS pieces,
            if(is_single, any_value(site), NULL) AS site,
            bool_or(is_replayed) AS is_replayed
        FROM neighbours
        GROUP BY segment, segment_address, segment_bytes, stretch, is_single, part
    )

    SELECT
        segment,
        segment_address,
        segment_bytes,
        (
            (min(address) OVER in_stretch)::HUGEINT
            - segment_address
            + coalesce(sum(bytes) OVER before, 0)
        )::BIGINT AS offset_bytes,
        bytes,
        state,
        pieces,
        site,
        is_replayed
    FROM together
    WINDOW
        in_stretch AS (PARTITION BY segment, stretch, is_single),
        before AS (
            PARTITION BY segment, stretch, is_single
            ORDER BY state ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        );
