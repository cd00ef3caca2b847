-- The allocations of one holder that were in use after any of a device's actions:
-- `memory_allocations(run, of_source, of_device, by_level, holder, at_ordinal)`, with the levels,
-- names and ordinals of `memory_sites_at`.
-- One row: an allocation.
--
-- element_id     the allocation, in `memory_elements`
-- bytes          its size, bytes
-- state          allocated; pending where its free had been requested
-- from_ns        from the device's first action to its birth, ns; null before the trace
-- to_ns          the same to its death; null where it lived to the end
-- life_ns        from its birth to its death, ns; null where one of them is not known
-- birth_ordinal  actions of the device before its allocation; null before the trace
-- death_ordinal  actions before it was free; null where it lived to the end
-- step           step in which it was allocated
-- site           line of the user's code that allocated
-- op             innermost operator around it
-- module         innermost nn.Module around it
-- category       what it was for
-- address        where it lay
-- stack_id       stack that allocated it
CREATE MACRO memory_allocations(run, of_source, of_device, by_level, holder, at_ordinal) AS TABLE
    WITH held AS (
        SELECT element_id
        FROM memory_holders
        WHERE
            run_id = run
            AND source_id = of_source
            AND device = of_device
            AND level = by_level
            AND name = holder
            AND birth_ordinal <= at_ordinal
            AND death_ordinal > at_ordinal
    )

    SELECT
        element.element_id,
        element.bytes,
        if(element.requested_ordinal <= at_ordinal, 'pending', 'allocated') AS state,
        element.birth_ns - peak.first_ns AS from_ns,
        element.death_ns - peak.first_ns AS to_ns,
        element.death_ns - element.birth_ns AS life_ns,
        element.birth_ordinal,
        element.death_ordinal,
        element.step,
        stacks.site,
        element.op,
        element.module,
        element.category,
        element.address,
        element.stack_id
    FROM memory_elements AS element
    INNER JOIN held ON element.element_id = held.element_id
    INNER JOIN memory_peak AS peak
        ON
            element.run_id = peak.run_id
            AND element.source_id = peak.source_id
            AND element.device = peak.device
    LEFT JOIN stacks ON element.run_id = stacks.run_id AND element.stack_id = stacks.stack_id
    WHERE
        element.run_id = run AND element.source_id = of_source AND element.device = of_device;
