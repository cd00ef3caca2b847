-- What held memory at the peak, by line of code, stack, nn.Module, operator or category. The rows
-- of a level add up to the peak.
-- One row: an owner of memory at one level, on one device in an input file.
-- Start here: What held memory at the peak?
--
-- run_id, source_id, rank, device_id, device_type, device
-- level        frame (line of the user's code), stack, module, op or category
-- name         the owner; `(before the trace)` for memory allocated before the trace and freed
--              during it, `(not freed)` for memory in use during the entire trace without a known
--              owner, `(not followed)` if no addresses were recorded, `(no stack)` and similar
--              names if the owner was not recorded
-- is_known
-- stack_id     for level stack, the stack (`stacks.stack_id`)
-- bytes        memory held at the peak, bytes
-- allocations  number of allocations; null if not known
-- percent      share of the peak, 0 to 100
WITH peaks AS NOT MATERIALIZED (
    SELECT *, peak_ordinal AS ordinal, peak_bytes AS used_bytes FROM memory_peak
)

SELECT * EXCLUDE (ordinal)
FROM memory_by_owner_at('peaks');
