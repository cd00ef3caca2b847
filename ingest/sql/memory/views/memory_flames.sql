-- The blocks of each snapshot by the stacks that allocated them, as in the flame graphs that
-- torch's `_memory_viz.py` draws. `array_to_string(frames, ';') || ' ' || bytes` is a line of the
-- folded format. The two graphs show the same bytes: all that the allocator held. There is one
-- difference from torch: an inactive block counts at most with its size. The size last requested
-- for it can be larger, which torch balances with negative gaps.
-- One row: a line of one of the two graphs, for a device in an input file.
--
-- run_id, source_id, rank, device_id, device_type, device
-- flame_graph  `memory`: by stream; `segments`: by stream and segment
-- frames       from the stream inwards: stream_N, in the graph `segments` seg_ADDRESS, the state of
--              the blocks, then the frames of the stack as `file:line:function`, outermost first,
--              without frames of the unwinder and the interpreter; `<non-python>` if no stack was
--              recorded; `<gaps>` for bytes added when sizes were rounded up
-- bytes        bytes in the blocks of the row
-- blocks       number of blocks
WITH
parts AS (
    SELECT
        block.run_id,
        block.source_id,
        block.rank,
        block.device_id,
        block.device_type,
        block.device,
        concat('stream_', segment.stream) AS stream,
        concat('seg_', segment.address) AS segment,
        block.state,
        block.stack_id,
        unnest([FALSE, TRUE]) AS is_gap,
        unnest([
            least(block.requested_bytes, block.bytes),
            block.bytes - least(block.requested_bytes, block.bytes)
        ]) AS bytes
    FROM memory_blocks AS block
    INNER JOIN memory_segments AS segment USING (run_id, source_id, segment_id)
),

lines AS (
    SELECT
        parts.* EXCLUDE (stack_id, is_gap, bytes),
        CASE
            WHEN parts.is_gap THEN ['<gaps>']
            WHEN parts.stack_id IS NULL THEN ['<non-python>']
            ELSE coalesce(called.frames, [])
        END AS frames,
        sum(parts.bytes)::BIGINT AS bytes,
        count(*) AS blocks
    FROM parts
    LEFT JOIN stack_names AS called
        ON
            NOT parts.is_gap
            AND parts.run_id = called.run_id
            AND parts.stack_id = called.stack_id
    WHERE parts.bytes <> 0
    GROUP BY ALL
)

SELECT
    * EXCLUDE (stream, segment, state, frames, bytes, blocks),
    'segments' AS flame_graph,
    [stream, segment, state] || frames AS frames,
    bytes,
    blocks
FROM lines
UNION ALL
SELECT
    * EXCLUDE (stream, segment, state, frames, bytes, blocks),
    'memory' AS flame_graph,
    [stream, state] || frames AS frames,
    sum(bytes)::BIGINT AS bytes,
    sum(blocks)::BIGINT AS blocks
FROM lines
GROUP BY ALL;
