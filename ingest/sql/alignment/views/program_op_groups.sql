-- Part of `provenance_groups`: what the operators of the finer side have in compiled kernels of the
-- other: `program_op_groups(units, slots)`, of a table like `compared_units` with `is_coarse`, and
-- one like `program_slots`.
-- One row: a unit of the finer side in a function that the other side compiled.
--
-- side      base or other
-- unit_id   the unit
-- group_id  group of the kernel that computes it; null where there is none
-- evidence  provenance, or order for an operator that the compiled program has under another name,
--           or not at all: it goes with what was executed before it in its function
CREATE MACRO program_op_groups(units, slots) AS TABLE
    WITH
    coarse_slots AS (
        SELECT
            place,
            op,
            slot,
            bool_or(is_compiled) AS is_compiled,
            min(group_id) AS group_id
        FROM query_table(slots)
        WHERE is_coarse
        GROUP BY place, op, slot
    ),

    -- Each unit once: a compiled kernel of this side as the first operator that it computes.
    fine_units AS (
        SELECT side, unit_id, place, op, slot, start_ns
        FROM query_table(slots)
        WHERE NOT is_coarse AND unit_id IS NOT NULL
        QUALIFY row_number() OVER (PARTITION BY side, unit_id ORDER BY position) = 1
        UNION ALL
        -- Operators whose name the compiled program does not have in this function.
        SELECT side, unit_id, place, NULL AS op, NULL AS slot, start_ns
        FROM query_table(units)
        WHERE
            NOT is_coarse
            AND region_id IS NULL
            AND place IN (SELECT place FROM query_table(slots) WHERE is_compiled)
            AND (place, short_name) NOT IN (
                SELECT (place, op) FROM query_table(slots) WHERE is_compiled
            )
    ),

    -- A call of a function begins with its first operator.
    in_function_calls AS (
        SELECT
            fine.side,
            fine.unit_id,
            fine.place,
            fine.start_ns,
            coarse_slots.group_id,
            coalesce(coarse_slots.is_compiled, TRUE) AS is_compiled,
            sum(CASE WHEN units.frame_order = 1 THEN 1 ELSE 0 END) OVER (
                PARTITION BY fine.place ORDER BY fine.start_ns, fine.unit_id
            ) AS function_call
        FROM fine_units AS fine
        INNER JOIN query_table(units) AS units
            ON fine.side = units.side AND fine.unit_id = units.unit_id
        LEFT JOIN coarse_slots
            ON
                fine.place = coarse_slots.place
                AND fine.op = coarse_slots.op
                AND fine.slot = coarse_slots.slot
    )

    SELECT
        side,
        unit_id,
        coalesce(
            group_id,
            last_value(group_id IGNORE NULLS) OVER before_in_function,
            first_value(group_id IGNORE NULLS) OVER after_in_function,
            last_value(group_id IGNORE NULLS) OVER before
        ) AS group_id,
        CASE WHEN group_id IS NULL THEN 'order' ELSE 'provenance' END AS evidence
    FROM in_function_calls
    WHERE is_compiled
    WINDOW
        before_in_function AS (
            PARTITION BY place, function_call ORDER BY start_ns, unit_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ),
        after_in_function AS (
            PARTITION BY place, function_call ORDER BY start_ns, unit_id
            ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        ),
        before AS (
            ORDER BY start_ns, unit_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        );
