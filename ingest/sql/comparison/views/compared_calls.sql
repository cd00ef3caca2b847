-- The merged call trees of one step of each of two runs: `compared_calls(base, other, of_rank,
-- nth_step)`, with the arguments of `op_diff`. Two calls match if their names and the names of all
-- calls around them within the step are equal, ignoring line numbers and addresses.
-- One row: a call below its caller, or a device activity below the calls that launched it.
--
-- id                    identifies the name of the call and the names of the calls around it
-- caller_id             the call around it (`compared_calls.id`); null for an outermost call
-- name                  name of the call or activity
-- category              category of the call, as in `call_stacks`
-- base_self_ns          host time in the call, but in no call inside it, in the first run, ns; 0
--                       for an activity
-- other_self_ns         host time in the call, but in no call inside it, in the second run, ns; 0
--                       for an activity
-- base_self_device_ns   device time of the activity in the first run, ns; 0 for a call; null
--                       without a device
-- other_self_device_ns  device time of the activity in the second run, ns; 0 for a call; null
--                       without a device
-- base_self_idle_ns     idle time that the activity ended in the first run, ns; 0 for a call; null
--                       without a device
-- other_self_idle_ns    idle time that the activity ended in the second run, ns; 0 for a call; null
--                       without a device
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

    paths AS (
        SELECT
            outermost.side,
            outermost.id,
            hash(outermost.same_name) AS path_id,
            NULL::UBIGINT AS caller_path_id
        FROM calls AS outermost
        ANTI JOIN calls AS caller
            ON outermost.side = caller.side AND outermost.caller_id = caller.id
        UNION ALL
        SELECT
            calls.side,
            calls.id,
            hash(paths.path_id, calls.same_name) AS path_id,
            paths.path_id AS caller_path_id
        FROM paths
        INNER JOIN calls ON paths.side = calls.side AND paths.id = calls.caller_id
    )

    SELECT
        paths.path_id::VARCHAR AS id,
        any_value(paths.caller_path_id)::VARCHAR AS caller_id,
        min(calls.name) AS name,
        min(calls.category) AS category,
        sum(calls.self_ns) FILTER (paths.side = 'base')::BIGINT AS base_self_ns,
        sum(calls.self_ns) FILTER (paths.side = 'other')::BIGINT AS other_self_ns,
        sum(calls.self_device_ns) FILTER (paths.side = 'base')::BIGINT AS base_self_device_ns,
        sum(calls.self_device_ns) FILTER (paths.side = 'other')::BIGINT AS other_self_device_ns,
        sum(calls.self_idle_ns) FILTER (paths.side = 'base')::BIGINT AS base_self_idle_ns,
        sum(calls.self_idle_ns) FILTER (paths.side = 'other')::BIGINT AS other_self_idle_ns
    FROM paths
    INNER JOIN calls ON paths.side = calls.side AND paths.id = calls.id
    GROUP BY paths.path_id;
