-- Allocations with their owner at each level. The rankings of memory group these rows.
-- One row: an allocation and its owner at one level.
--
-- run_id, source_id, rank, device_id, device_type, device
-- level          frame (line of the user's code), stack (like frame, but different stacks have
--                different owners), module, op or category
-- name           the owner at that level; in parentheses if it is not known
-- is_known
-- stack_id       for level stack, the stack (`stacks.stack_id`)
-- allocation_id  the allocation (`memory_allocations.allocation_id`)
-- bytes          size of the allocation, bytes
-- alloc_ordinal  action that allocated it (`memory_events.ordinal`); -1 if that was before the
--                trace
-- free_ordinal   action that freed it (`memory_events.ordinal`); the largest BIGINT if it lived to
--                the end
WITH
levels AS (
    SELECT unnest(['frame', 'stack', 'module', 'op', 'category']) AS level
),

named AS (
    SELECT
        allocation.*,
        levels.level,
        CASE
            WHEN allocation.origin = 'before_trace' THEN NULL
            WHEN levels.level IN ('frame', 'stack') THEN stacks.user_frame
            WHEN levels.level = 'module' THEN allocation.module
            WHEN levels.level = 'op' THEN allocation.op
            ELSE allocation.category
        END AS owner
    FROM memory_allocations AS allocation
    LEFT JOIN stacks
        ON allocation.run_id = stacks.run_id AND allocation.stack_id = stacks.stack_id
    CROSS JOIN levels
)

SELECT
    run_id,
    source_id,
    rank,
    device_id,
    device_type,
    device,
    level,
    CASE
        WHEN owner IS NOT NULL THEN owner
        WHEN origin = 'before_trace' THEN before_trace()
        WHEN origin = 'snapshot_only' THEN not_freed()
        WHEN level IN ('frame', 'stack') THEN no_stack()
        WHEN level = 'module' THEN '(no module)'
        WHEN level = 'op' THEN '(no operator)'
        ELSE '(no category)'
    END AS name,
    owner IS NOT NULL AS is_known,
    CASE WHEN level = 'stack' THEN stack_id END AS stack_id,
    allocation_id,
    bytes,
    coalesce(alloc_ordinal, -1) AS alloc_ordinal,
    coalesce(free_ordinal, 9223372036854775807) AS free_ordinal
FROM named;
