-- The allocations that were in use at any number of moments: `memory_allocations_at(moments)`, with
-- the name of a relation that has rows of `memory_timeline`.
-- One row: an allocation at a moment.
--
-- run_id         the run
-- source_id      the input file
-- rank           rank of the process
-- device_type    cuda, cpu, xpu, …
-- device         number of the device; null for the CPU
-- ordinal        the moment (`memory_timeline.ordinal`)
-- allocation_id  the allocation (`memory_allocations.allocation_id`), in `memory_owners` at each
--                level
-- origin         traced, before_trace or snapshot_only
-- address        where it lay
-- bytes          its size, bytes
-- state          allocated; pending where its free had been requested
-- alloc_ns       Unix time of the allocation, ns; null before the trace
-- free_ns        Unix time at which it was free, ns; null where it lived to the end
-- dur_ns         from its allocation to its free, ns; null where one of them is not known
-- alloc_ordinal  action that allocated it (`memory_events.ordinal`); null: before the trace
-- free_ordinal   action that freed it (`memory_events.ordinal`); null where it lived to the end
-- step           step in which it was allocated (`memory_steps.step`)
-- user_frame     line of the user's code that allocated; null where no stack was recorded
-- module         innermost nn.Module around the allocation, where known
-- op             innermost operator around it, where known
-- category       what it was for, where recorded
-- stack_id       stack that allocated it (`stacks.stack_id`)
CREATE MACRO memory_allocations_at(moments) AS TABLE
    WITH
    asked_moments AS NOT MATERIALIZED (
        SELECT run_id, source_id, device_type, device, ordinal FROM query_table(moments)
    ),

    -- DuckDB does not see that a join asks for the stacks of these runs alone.
    stacks_of_runs AS (
        SELECT * FROM stacks WHERE run_id IN (SELECT run_id FROM asked_moments)
    )

    SELECT
        moment.run_id,
        moment.source_id,
        allocation.rank,
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
    FROM asked_moments AS moment
    INNER JOIN memory_allocations AS allocation
        ON
            moment.run_id = allocation.run_id
            AND moment.source_id = allocation.source_id
            AND moment.device_type = allocation.device_type
            AND moment.device IS NOT DISTINCT FROM allocation.device
            AND moment.ordinal >= coalesce(allocation.alloc_ordinal, -1)
            AND moment.ordinal < coalesce(allocation.free_ordinal, 9223372036854775807)
    LEFT JOIN stacks_of_runs AS stacks
        ON allocation.run_id = stacks.run_id AND allocation.stack_id = stacks.stack_id;
