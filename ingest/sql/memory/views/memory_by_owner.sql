-- What held memory at the peak: by line of code, stack, nn.Module, operator or category. The rows
-- of a level add up to the peak.
-- One row: an owner of memory at one level, on one device in an input file.
-- Start here: What held memory at the peak?
--
-- run_id       the run
-- source_id    the input file
-- rank         rank of the process
-- device_type  cuda, cpu, xpu, …; `unknown` where a timeline does not say
-- device       number of the device; null for the CPU
-- level        frame (line of the user's code), stack, module, op or category
-- name         the owner; `(before the trace)` for what was there when it began, `(not followed)`
--              where no addresses were recorded, `(no stack)` and similar names where the owner
--              was not recorded
-- is_known     whether the owner is known
-- stack_id     of level stack, the stack (`stacks.stack_id`)
-- bytes        held at the peak, bytes
-- allocations  in so many allocations; null where they are not known
-- percent      of the peak, 0 to 100
WITH peaks AS NOT MATERIALIZED (
    SELECT
        run_id,
        source_id,
        rank,
        device_type,
        device,
        peak_ordinal AS ordinal,
        peak_bytes AS used_bytes
    FROM memory_peak
)

SELECT * EXCLUDE (ordinal)
FROM memory_by_owner_at('peaks');
