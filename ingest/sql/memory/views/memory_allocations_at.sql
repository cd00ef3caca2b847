-- Allocations in use at any number of moments: `memory_allocations_at(moments)`. The argument is
-- the name of a relation with rows of `memory_timeline`.
-- One row: an allocation that was in use at a moment.
--
-- run_id, source_id, rank, device_id, device_type, device
-- ordinal        the moment (`memory_timeline.ordinal`)
-- allocation_id  the allocation (`memory_allocations.allocation_id`); `memory_owners` lists it at
--                each level
-- origin         traced, before_trace or snapshot_only
-- address        address of the memory
-- bytes          size of the allocation, bytes
-- state          allocated, or pending if its free had been requested
-- alloc_ns, free_ns
-- dur_ns         time from the allocation to its free, ns; null if either is not known
-- alloc_ordinal, free_ordinal
-- step           innermost step in which it was allocated (`memory_steps.step`)
-- user_frame     line of the user's code that allocated it; null if no stack was recorded
-- module         innermost nn.Module around the allocation, if known
-- op             innermost operator around the allocation, if known
-- category       purpose of the memory, if recorded
-- stack_id       stack that allocated it (`stacks.stack_id`)
CREATE MACRO memory_allocations_at(moments) AS TABLE
    WITH
    requested_moments AS NOT MATERIALIZED (FROM query_table(moments)),

    held AS NOT MATERIALIZED (
        FROM memory_held_at('requested_moments', 'memory_allocations')
    ),

    -- A join alone does not restrict DuckDB to the stacks of these runs.
    stacks_of_runs AS (
        SELECT * FROM stacks WHERE run_id IN (SELECT run_id FROM requested_moments)
    )

    SELECT
        held.run_id,
        held.source_id,
        held.rank,
        held.device_id,
        held.device_type,
        held.device,
        held.ordinal,
        held.allocation_id,
        held.origin,
        held.address,
        held.bytes,
        if(held.free_requested_ordinal <= held.ordinal, 'pending', 'allocated') AS state,
        held.alloc_ns,
        held.free_ns,
        held.free_ns - held.alloc_ns AS dur_ns,
        held.alloc_ordinal,
        held.free_ordinal,
        held.step,
        stacks.user_frame,
        held.module,
        held.op,
        held.category,
        held.stack_id
    FROM held
    LEFT JOIN stacks_of_runs AS stacks USING (run_id, stack_id);
