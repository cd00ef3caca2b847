-- Memory that was allocated after the first step and still in use at the end, by line of code, and
-- whether it grows with the steps. Empty if no steps are known (`memory_steps`).
-- One row: a line of code on one device in an input file.
--
-- run_id, source_id, rank, device_id, device_type, device
-- user_frame    line of the user's code that allocated the memory; the operator if no stack was
--               recorded
-- bytes         memory in use at the end, bytes
-- allocations   number of the allocations still in use at the end
-- steps         number of steps in which these allocations were made
-- first_step    first step in which one of the allocations was made
-- last_step     last step in which one of the allocations was made
-- steps_in_all  number of steps after the first one
-- bytes_a_step  bytes divided by `steps`
-- is_growing    whether memory remains from all steps after the first, except one at most, and from
--               at least two steps
WITH
steps AS (
    SELECT
        run_id,
        source_id,
        device_id,
        min(step) AS first_step,
        count(*) - 1 AS steps_in_all
    FROM memory_steps
    GROUP BY ALL
),

left_over AS (
    SELECT
        allocation.run_id,
        allocation.source_id,
        allocation.rank,
        allocation.device_id,
        allocation.device_type,
        allocation.device,
        coalesce(stacks.user_frame, allocation.op, no_stack()) AS user_frame,
        allocation.bytes,
        allocation.step,
        steps.steps_in_all
    FROM memory_allocations AS allocation
    INNER JOIN steps
        ON
            allocation.run_id = steps.run_id
            AND allocation.source_id = steps.source_id
            AND allocation.device_id = steps.device_id
            AND allocation.step > steps.first_step
    LEFT JOIN stacks
        ON allocation.run_id = stacks.run_id AND allocation.stack_id = stacks.stack_id
    WHERE allocation.free_ordinal IS NULL
)

SELECT
    run_id,
    source_id,
    rank,
    device_id,
    device_type,
    device,
    user_frame,
    sum(bytes)::BIGINT AS bytes,
    count(*) AS allocations,
    count(DISTINCT step) AS steps,
    min(step) AS first_step,
    max(step) AS last_step,
    any_value(steps_in_all) AS steps_in_all,
    (sum(bytes) // count(DISTINCT step))::BIGINT AS bytes_a_step,
    count(DISTINCT step) >= greatest(2, any_value(steps_in_all) - 1) AS is_growing
FROM left_over
GROUP BY ALL;
