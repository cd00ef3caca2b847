-- Memory that the allocator held but did not use when the snapshot was taken, and why it could not
-- be released.
-- One row: a segment, a pool, or an entire device of an input file.
--
-- run_id, source_id, rank, device_id, device_type, device
-- level                   segment, pool or device
-- pool                    ids of the private pool; (0, 0) is the common pool; null for level
--                         device, and in old files
-- segment_id              for level segment, the segment (`memory_segments.segment_id`)
-- segments                number of segments
-- bytes                   memory held by the allocator, bytes
-- active_bytes            bytes in blocks that are in use or have a pending free
-- inactive_bytes          bytes in blocks that are not in use
-- stranded_bytes          inactive bytes that cannot be released, because their segment also holds
--                         active blocks. Whole pages of an expandable segment can be released
-- rounding_bytes          active bytes that were not requested, but added when sizes were rounded
--                         up
-- largest_inactive_bytes  size of the largest inactive block, bytes
-- inactive_percent        inactive bytes as a share of the held bytes, 0 to 100
WITH
segments AS (
    SELECT
        segment.run_id,
        segment.source_id,
        segment.rank,
        segment.device_id,
        segment.device_type,
        segment.device,
        segment.pool,
        segment.segment_id,
        any_value(segment.bytes) AS bytes,
        coalesce(sum(block.bytes) FILTER (WHERE block.state <> 'inactive'), 0) AS active_bytes,
        coalesce(sum(block.bytes) FILTER (WHERE block.state = 'inactive'), 0) AS inactive_bytes,
        sum(block.bytes - block.requested_bytes) FILTER (WHERE block.state <> 'inactive')
            AS rounding_bytes,
        coalesce(max(block.bytes) FILTER (WHERE block.state = 'inactive'), 0)
            AS largest_inactive_bytes,
        coalesce(
            sum(
                block.bytes - whole_page_bytes(
                    (block.address - segment.address)::BIGINT, block.bytes, segment.page_bytes
                )
            ) FILTER (WHERE block.state = 'inactive'),
            0
        ) AS inactive_rest_bytes
    FROM memory_segments AS segment
    LEFT JOIN memory_blocks AS block USING (run_id, source_id, segment_id)
    GROUP BY ALL
)

SELECT
    run_id,
    source_id,
    rank,
    device_id,
    device_type,
    device,
    CASE
        WHEN grouping(segment_id) = 0 THEN 'segment'
        WHEN grouping(pool) = 0 THEN 'pool'
        ELSE 'device'
    END AS level,
    pool,
    segment_id,
    count(*) AS segments,
    sum(bytes)::BIGINT AS bytes,
    sum(active_bytes)::BIGINT AS active_bytes,
    sum(inactive_bytes)::BIGINT AS inactive_bytes,
    coalesce(sum(inactive_rest_bytes) FILTER (WHERE active_bytes > 0), 0)::BIGINT
        AS stranded_bytes,
    sum(rounding_bytes)::BIGINT AS rounding_bytes,
    max(largest_inactive_bytes)::BIGINT AS largest_inactive_bytes,
    100.0 * sum(inactive_bytes) / nullif(sum(bytes), 0) AS inactive_percent
FROM segments
GROUP BY GROUPING SETS (
    (run_id, source_id, rank, device_id, device_type, device, pool, segment_id),
    (run_id, source_id, rank, device_id, device_type, device, pool),
    (run_id, source_id, rank, device_id, device_type, device)
);
