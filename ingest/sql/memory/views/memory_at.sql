-- The allocations that were in use at a moment, on every device of a run: `memory_at(run, t)`, with
-- Unix time in nanoseconds, after what happened at that time. Devices without times have no rows.
-- One row: an allocation.
--
-- source_id      the input file
-- rank           rank of the process
-- device         device, as PyTorch names it
-- ordinal        the last action of the device up to then
-- element_id     the allocation, in `memory_elements`
-- origin         traced, before_trace or snapshot_only
-- address        where it lay
-- bytes          its size, bytes
-- state          allocated; pending where its free had been requested
-- birth_ns       Unix time of the allocation, ns; null before the trace
-- death_ns       Unix time at which it was free, ns; null where it lived to the end
-- site           line of the user's code that allocated; null where no stack was recorded
-- module         innermost nn.Module around the allocation, where known
-- op             innermost operator around it, where known
-- category       what it was for, where recorded
-- stack_id       stack that allocated it
CREATE MACRO memory_at(run, t) AS TABLE
    WITH moments AS (
        SELECT
            peak.source_id,
            peak.device,
            coalesce(max(event.ordinal), -1) AS ordinal
        FROM memory_peak AS peak
        LEFT JOIN memory_events AS event
            ON
                peak.run_id = event.run_id
                AND peak.source_id = event.source_id
                AND peak.device = event.device
                AND event.time_ns <= t
        WHERE peak.run_id = run AND peak.first_ns IS NOT NULL
        GROUP BY peak.source_id, peak.device
    )

    SELECT
        element.source_id,
        element.rank,
        element.device,
        moments.ordinal,
        element.element_id,
        element.origin,
        element.address,
        element.bytes,
        if(element.requested_ordinal <= moments.ordinal, 'pending', 'allocated') AS state,
        element.birth_ns,
        element.death_ns,
        stacks.site,
        element.module,
        element.op,
        element.category,
        element.stack_id
    FROM memory_elements AS element
    INNER JOIN moments
        ON
            element.source_id = moments.source_id
            AND element.device = moments.device
            AND coalesce(element.birth_ordinal, -1) <= moments.ordinal
            AND coalesce(element.death_ordinal, moments.ordinal + 1) > moments.ordinal
    LEFT JOIN stacks ON element.run_id = stacks.run_id AND element.stack_id = stacks.stack_id
    WHERE element.run_id = run;
