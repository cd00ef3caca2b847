-- The segments that the allocators held at any number of moments, and their contents, ready to be
-- drawn: `memory_map(moments, most_segments, most_blocks)`. The first argument is the name of a
-- relation with rows of `memory_timeline`. After the last action of a snapshot, the blocks are
-- those that the snapshot lists; before it, they are replayed (`memory_layout_at`). Only the
-- largest segments of each moment are returned. The largest blocks in these have rows of their own;
-- smaller adjacent blocks of the same state are merged, so a segment's blocks still fill it.
-- One row: a block of a segment at a moment, or adjacent small blocks of one state.
--
-- run_id, source_id, device_id
-- device_type      cuda, xpu, …
-- device
-- ordinal          the moment (`memory_timeline.ordinal`)
-- segment_ordinal  rank of the segment by size at the moment, from 1 for the largest
-- segment_address, segment_bytes
-- offset_bytes     distance from the segment's start to the block, bytes
-- bytes            size of the block, bytes
-- state            allocated; pending; free: memory that can be released, because its segment holds
--                  no allocations, or because it is a whole page of an expandable segment;
--                  stranded: other free memory
-- blocks           number of blocks that were merged; 1 for a single block
-- user_frame       line of the user's code that allocated it; null for merged blocks
-- is_replayed      whether the block was replayed from the actions
CREATE MACRO memory_map(moments, most_segments, most_blocks) AS TABLE
    WITH
    mapped_moments AS (
        SELECT
            moment.run_id,
            moment.source_id,
            moment.device_id,
            moment.device_type,
            moment.device,
            moment.ordinal,
            moment.ordinal < peak.actions - 1 AS is_replayed
        FROM query_table(moments) AS moment
        INNER JOIN memory_peak AS peak USING (run_id, source_id, device_id)
    ),

    replayed_moments AS (
        SELECT * FROM mapped_moments WHERE is_replayed
    ),

    blocks AS (
        SELECT
            moment.*,
            segment.address AS segment_address,
            segment.bytes AS segment_bytes,
            segment.page_bytes,
            block.address,
            block.bytes,
            CASE block.state
                WHEN 'inactive' THEN 'free'
                WHEN 'active_allocated' THEN 'allocated'
                ELSE 'pending'
            END AS state,
            stacks.user_frame
        FROM mapped_moments AS moment
        INNER JOIN memory_blocks AS block USING (run_id, source_id, device_id)
        INNER JOIN memory_segments AS segment USING (run_id, source_id, device_id, segment_id)
        LEFT JOIN stacks ON block.run_id = stacks.run_id AND block.stack_id = stacks.stack_id
        WHERE NOT moment.is_replayed
        UNION ALL BY NAME
        SELECT * EXCLUDE (allocation_id), TRUE AS is_replayed
        FROM memory_layout_at('replayed_moments')
    ),

    paged AS (
        SELECT
            *,
            dense_rank() OVER (
                PARTITION BY run_id, source_id, device_id, ordinal
                ORDER BY segment_bytes DESC, segment_address
            ) AS segment_ordinal,
            state = 'free' AND bool_or(state <> 'free') OVER (
                PARTITION BY run_id, source_id, device_id, ordinal, segment_address
            ) AS is_between,
            (address - segment_address)::BIGINT AS block_offset,
            whole_page_bytes(block_offset, bytes, page_bytes) AS paged_bytes,
            coalesce((page_bytes - block_offset % page_bytes) % page_bytes, 0) AS before_page_bytes
        FROM blocks
        QUALIFY segment_ordinal <= most_segments
    ),

    -- Free memory between allocations of an expandable segment has up to three parts: the rest of a
    -- page, whole pages, and the beginning of another page.
    parts AS (
        SELECT
            * EXCLUDE (
                address, bytes, state, is_between, block_offset, paged_bytes, before_page_bytes
            ),
            unnest(CASE
                WHEN NOT is_between
                    THEN [struct_pack(address := address, bytes := bytes, part := state)]
                ELSE list_filter(
                    [
                        struct_pack(
                            address := address,
                            bytes := if(paged_bytes > 0, before_page_bytes, bytes),
                            part := 'stranded'
                        ),
                        struct_pack(
                            address := address + before_page_bytes::UBIGINT,
                            bytes := paged_bytes,
                            part := 'free'
                        ),
                        struct_pack(
                            address := address + (before_page_bytes + paged_bytes)::UBIGINT,
                            bytes := if(
                                paged_bytes > 0, bytes - before_page_bytes - paged_bytes, 0
                            ),
                            part := 'stranded'
                        )
                    ],
                    LAMBDA each: each.bytes > 0
                )
            END) AS piece
        FROM paged
    ),

    ranked AS (
        SELECT
            * EXCLUDE (piece),
            piece.address,
            piece.bytes,
            piece.part,
            row_number() OVER (
                PARTITION BY run_id, source_id, device_id, ordinal
                ORDER BY piece.bytes DESC, piece.address
            ) <= most_blocks AS is_single
        FROM parts
    ),

    neighbours AS (
        SELECT
            *, sum(is_single::INTEGER) OVER (
                PARTITION BY run_id, source_id, device_id, ordinal, segment_ordinal
                ORDER BY address ROWS UNBOUNDED PRECEDING
            ) AS merge_group
        FROM ranked
    ),

    merged AS (
        SELECT
            * EXCLUDE (page_bytes, address, bytes, part, user_frame, is_replayed),
            part AS state,
            min(address) AS address,
            sum(bytes)::BIGINT AS bytes,
            count(*) AS blocks,
            any_value(if(is_single, user_frame, NULL)) AS user_frame,
            bool_or(is_replayed) AS is_replayed
        FROM neighbours
        GROUP BY ALL
    )

    SELECT
        run_id,
        source_id,
        device_id,
        device_type,
        device,
        ordinal,
        segment_ordinal,
        segment_address,
        segment_bytes,
        (
            (min(address) OVER in_group)::HUGEINT
            - segment_address
            + coalesce(sum(bytes) OVER before, 0)
        )::BIGINT AS offset_bytes,
        bytes,
        state,
        blocks,
        user_frame,
        is_replayed
    FROM merged
    WINDOW
        in_group AS (
            PARTITION BY
                run_id, source_id, device_id, ordinal, segment_ordinal, merge_group, is_single
        ),
        before AS (
            PARTITION BY
                run_id, source_id, device_id, ordinal, segment_ordinal, merge_group, is_single
            ORDER BY state ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        );
