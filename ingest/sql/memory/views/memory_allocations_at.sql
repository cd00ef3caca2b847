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
    requested_moments AS NOT MATERIALIZED (
        SELECT run_id, source_id, device_id, device_type, device, ordinal FROM query_table(moments)
    ),

    -- A join alone does not restrict DuckDB to the stacks of these runs.
    stacks_of_runs AS (
        SELECT * FROM stacks WHERE run_id IN (SELECT run_id FROM requested_moments)
    )

    SELECT
        moment.run_id,
        moment.source_id,
        allocation.rank,
        moment.device_id,
        moment.device_type,
        moment.device,
        moment.ordinal,
        allocation.allocation_id,
        allocation.origin,
        allocation.address,
        allocation.bytes,
        if(allocation.free_requested_ordinal <= moment.ordinal, 'pending', 'allocated') AS state,
        allocation.alloc_ns,
        allocation.free_ns,
        allocation.free_ns - allocation.alloc_ns AS dur_ns,
        allocation.alloc_ordinal,
        allocation.free_ordinal,
        allocation.step,
        stacks.user_frame,
        allocation.module,
        allocation.op,
        allocation.category,
        allocation.stack_id
    FROM requested_moments AS moment
    INNER JOIN memory_allocations AS allocation
        ON
            moment.run_id = allocation.run_id
            AND moment.source_id = allocation.source_id
            AND moment.device_id = allocation.device_id
            AND moment.ordinal >= coalesce(allocation.alloc_ordinal, -1)
            AND moment.ordinal < coalesce(allocation.free_ordinal, 9223372036854775807)
    LEFT JOIN stacks_of_runs AS stacks
        ON allocation.run_id = stacks.run_id AND allocation.stack_id = stacks.stack_id;
