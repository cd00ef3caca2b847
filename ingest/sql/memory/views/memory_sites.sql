-- What held memory at the peak: by line of code, stack, nn.Module, operator or category. The rows
-- of a level add up to the peak.
-- One row: a holder of memory at one level, on one device in a source.
--
-- run_id     the run
-- source_id  the input file
-- rank       rank of the process
-- device     device, as PyTorch names it
-- level      site (line of the user's code), stack, module, op or category
-- name       the holder; `(before the trace)` for what was there when it began, `(not followed)`
--            where no addresses were recorded
-- stack_id   of level stack, the stack
-- bytes      held at the peak, bytes
-- elements   in so many allocations; null where they are not known
-- percent    of the peak, 0 to 100
WITH peaks AS NOT MATERIALIZED (
    SELECT run_id, source_id, rank, device, peak_ordinal AS ordinal, peak_bytes AS used_bytes
    FROM memory_peak
)

SELECT run_id, source_id, rank, device, level, name, stack_id, bytes, elements, percent
FROM memory_sites_of('peaks');
