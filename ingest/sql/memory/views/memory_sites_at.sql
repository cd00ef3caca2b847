-- What held the memory of a device after any of its actions:
-- `memory_sites_at(run, of_source, of_device, at_ordinal)`, with -1 for the state before the first.
-- The rows of a level add up to what was in use.
-- One row: a holder of memory at one level.
--
-- level     site (line of the user's code), stack, module, op or category
-- name      the holder; `(before the trace)` for what was there when it began, `(not followed)`
--           where no addresses were recorded
-- stack_id  of level stack, the stack
-- bytes     held, bytes
-- elements  in so many allocations; null where they are not known
-- percent   of what was in use, 0 to 100
CREATE MACRO memory_sites_at(run, of_source, of_device, at_ordinal) AS TABLE
    WITH asked_moment AS (
        SELECT
            run_id,
            source_id,
            rank,
            device,
            ordinal,
            coalesce(active_bytes, allocated_bytes) AS used_bytes
        FROM memory_timeline
        WHERE
            run_id = run
            AND source_id = of_source
            AND device = of_device
            AND ordinal = at_ordinal
    )

    SELECT level, name, stack_id, bytes, elements, percent
    FROM memory_sites_of('asked_moment');
