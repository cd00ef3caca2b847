-- The call trees of a step of each of two runs, call against call: `compared_calls(base, other,
-- of_rank, nth_step)`, with the arguments of `op_diff`. Two calls are the same where the names of
-- the calls around them within the step are, and their own, without line numbers and addresses.
-- One row: a call in its calls, or a device activity in those that launched it.
--
-- id                    stands for these names
-- caller_id             the call around it (`compared_calls.id`); null for the outermost
-- name                  its name
-- category              as in `call_stacks`
-- base_self_ns          as in `call_stacks`, of the first run
-- other_self_ns         the same of the second run
-- base_self_device_ns   as in `call_stacks`, of the first run
-- other_self_device_ns  the same of the second run
-- base_self_idle_ns     as in `call_stacks`, of the first run
-- other_self_idle_ns    the same of the second run
CREATE MACRO compared_calls(base, other, of_rank := NULL, nth_step := NULL) AS TABLE
    WITH RECURSIVE
    steps AS MATERIALIZED (
        SELECT step.side, step.rank, step.step
        FROM compared_steps(base, other, rank := of_rank) AS step
        WHERE if(nth_step IS NULL, step.is_median, step.ordinal = nth_step)
    ),

    found AS (
        SELECT 'base' AS side, * FROM call_stacks(base)
        UNION ALL
        SELECT 'other' AS side, * FROM call_stacks(other)
    ),

    calls AS MATERIALIZED (
        SELECT
            found.side,
            found.id,
            any_value(found.caller_id) AS caller_id,
            min(found.name) AS name,
            regexp_replace(without_address(min(found.name)), '\(\d+\): ', ': ') AS same_name,
            any_value(found.category) AS category,
            sum(found.self_ns) AS self_ns,
            sum(found.self_device_ns) AS self_device_ns,
            sum(found.self_idle_ns) AS self_idle_ns
        FROM found
        INNER JOIN steps ON found.side = steps.side AND found.rank = steps.rank
        WHERE steps.step IS NULL OR found.step = steps.step
        GROUP BY found.side, found.id
    ),

    placed AS (
        SELECT
            outermost.side,
            outermost.id,
            hash(outermost.same_name) AS place_id,
            NULL::UBIGINT AS around_id
        FROM calls AS outermost
        ANTI JOIN calls AS caller
            ON outermost.side = caller.side AND outermost.caller_id = caller.id
        UNION ALL
        SELECT
            calls.side,
            calls.id,
            hash(placed.place_id, calls.same_name) AS place_id,
            placed.place_id AS around_id
        FROM placed
        INNER JOIN calls ON placed.side = calls.side AND placed.id = calls.caller_id
    )

    SELECT
        placed.place_id::VARCHAR AS id,
        any_value(placed.around_id)::VARCHAR AS caller_id,
        min(calls.name) AS name,
        min(calls.category) AS category,
        sum(calls.self_ns) FILTER (placed.side = 'base')::BIGINT AS base_self_ns,
        sum(calls.self_ns) FILTER (placed.side = 'other')::BIGINT AS other_self_ns,
        sum(calls.self_device_ns) FILTER (placed.side = 'base')::BIGINT AS base_self_device_ns,
        sum(calls.self_device_ns) FILTER (placed.side = 'other')::BIGINT AS other_self_device_ns,
        sum(calls.self_idle_ns) FILTER (placed.side = 'base')::BIGINT AS base_self_idle_ns,
        sum(calls.self_idle_ns) FILTER (placed.side = 'other')::BIGINT AS other_self_idle_ns
    FROM placed
    INNER JOIN calls ON placed.side = calls.side AND placed.id = calls.id
    GROUP BY placed.place_id;
