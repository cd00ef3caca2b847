-- Memory that was still there at the end though it was allocated after the first step: by line of
-- code, and whether it grows with the steps. Empty where no steps are known (`memory_steps`).
-- One row: a site on one device in a source.
--
-- run_id         the run
-- source_id      the input file
-- rank           rank of the process
-- device         device, as PyTorch names it
-- site           line of the user's code that allocated; the operator where no stack was recorded
-- bytes          live at the end, bytes
-- elements       in so many allocations
-- steps          steps in which these were allocated
-- first_step     the first of them
-- last_step      the last of them
-- steps_in_all   steps after the first one
-- bytes_a_step   bytes by steps in which they were allocated
-- grows          whether every step after the first, but for the last, has left some: at least two
WITH
steps AS (
    SELECT
        run_id,
        source_id,
        device,
        min(step) AS first_step,
        count(*) - 1 AS steps_in_all
    FROM memory_steps
    GROUP BY run_id, source_id, device
),

left_over AS (
    SELECT
        element.run_id,
        element.source_id,
        element.rank,
        element.device,
        coalesce(stacks.site, element.op, no_stack()) AS site,
        element.bytes,
        element.step,
        steps.steps_in_all
    FROM memory_elements AS element
    INNER JOIN steps
        ON
            element.run_id = steps.run_id
            AND element.source_id = steps.source_id
            AND element.device = steps.device
            AND element.step > steps.first_step
    LEFT JOIN stacks ON element.run_id = stacks.run_id AND element.stack_id = stacks.stack_id
    WHERE element.death_ordinal IS NULL
)

SELECT
    run_id,
    source_id,
    rank,
    device,
    site,
    sum(bytes)::BIGINT AS bytes,
    count(*) AS elements,
    count(DISTINCT step) AS steps,
    min(step) AS first_step,
    max(step) AS last_step,
    any_value(steps_in_all) AS steps_in_all,
    (sum(bytes) // count(DISTINCT step))::BIGINT AS bytes_a_step,
    count(DISTINCT step) >= greatest(2, any_value(steps_in_all) - 1) AS grows
FROM left_over
GROUP BY run_id, source_id, rank, device, site;
