-- Allocations under each of the names that they can be counted by: what rankings of memory group.
-- One row: an allocation at one level.
--
-- run_id         the run
-- source_id      the input file
-- rank           rank of the process
-- device         device, as PyTorch names it
-- level          site (line of the user's code), stack (the same, whole stacks apart), module, op
--                or category
-- name           name at that level; what is not known is in brackets
-- stack_id       of level stack, the stack
-- element_id     the allocation, in `memory_elements`
-- bytes          its size, bytes
-- birth_ordinal  actions of the device before its allocation; -1: before the trace
-- death_ordinal  actions before it was free; the largest number where it lived to the end
WITH levels AS (
    SELECT unnest(['site', 'stack', 'module', 'op', 'category']) AS level
)

SELECT
    element.run_id,
    element.source_id,
    element.rank,
    element.device,
    levels.level,
    CASE
        WHEN element.origin = 'before_trace' THEN before_trace()
        WHEN levels.level IN ('site', 'stack') THEN coalesce(stacks.site, no_stack())
        WHEN levels.level = 'module' THEN coalesce(element.module, '(no module)')
        WHEN levels.level = 'op' THEN coalesce(element.op, '(no operator)')
        ELSE coalesce(element.category, '(no category)')
    END AS name,
    CASE WHEN levels.level = 'stack' THEN element.stack_id END AS stack_id,
    element.element_id,
    element.bytes,
    coalesce(element.birth_ordinal, -1) AS birth_ordinal,
    coalesce(element.death_ordinal, 9223372036854775807) AS death_ordinal
FROM memory_elements AS element
LEFT JOIN stacks ON element.run_id = stacks.run_id AND element.stack_id = stacks.stack_id
CROSS JOIN levels;
