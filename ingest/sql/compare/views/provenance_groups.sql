-- Which kernels of compiled graphs stand against which operators, by torch's compile log:
-- `provenance_groups(units, base, other)`, of a table like `compared_units` with `steps`, and with
-- `is_coarse`: whether a unit is of the side whose kernels do the work of several operators.
-- One row: a unit of either side that has provenance, or stands between some that have.
--
-- side      base or other
-- unit_id   the unit
-- group_id  the same for what stands against each other
-- evidence  provenance, or order for an operator that the compiled program has under another name,
--           or not at all: it goes with what was executed before it in its function
--
-- Operators and compiled programs meet in the functions of the user, by the number of times that a
-- function has called an operator of that name, step for step.
CREATE MACRO provenance_groups(units, base, other) AS TABLE
    WITH
    compiled AS MATERIALIZED (FROM compiled_programs(units, base, other)),

    placed AS MATERIALIZED (
        -- Of what torch's own functions call, programs do not tell the user's function.
        SELECT
            * REPLACE (
                if(
                    ('torch', short_name) IN (SELECT (place, op) FROM compiled)
                    AND (place, short_name) NOT IN (SELECT (place, op) FROM compiled),
                    'torch',
                    place
                ) AS place
            )
        FROM query_table(units)
        WHERE EXISTS (FROM compiled)
    ),

    sides AS (
        SELECT side, any_value(steps) AS steps, bool_or(is_coarse) AS is_coarse
        FROM placed
        GROUP BY side
    ),

    coarse AS (SELECT side FROM sides WHERE is_coarse),

    program AS (
        SELECT side, start_ns, position, place, op, unit_id, TRUE AS is_compiled
        FROM compiled
        UNION ALL
        SELECT
            side,
            start_ns,
            0 AS position,
            place,
            short_name AS op,
            unit_id,
            FALSE AS is_compiled
        FROM placed
        WHERE region_id IS NULL AND (place, short_name) IN (SELECT (place, op) FROM compiled)
    ),

    numbered AS (
        SELECT
            *,
            row_number() OVER (
                PARTITION BY side, place, op ORDER BY start_ns, position, unit_id
            ) - 1 AS number
        FROM program
    ),

    in_step AS (
        SELECT
            numbered.side,
            numbered.place,
            numbered.op,
            CASE
                WHEN count(*) % any_value(sides.steps) = 0
                    THEN count(*) // any_value(sides.steps)
                ELSE count(*)
            END AS times
        FROM numbered
        INNER JOIN sides ON numbered.side = sides.side
        GROUP BY numbered.side, numbered.place, numbered.op
    ),

    -- Sides that repeat a step differently often are folded onto the shorter.
    periods AS (
        SELECT
            place,
            op,
            CASE
                WHEN max(times) % min(times) = 0 THEN min(times) ELSE max(times)
            END AS period
        FROM in_step
        GROUP BY place, op
    ),

    slots AS MATERIALIZED (
        SELECT
            numbered.*,
            numbered.number % periods.period AS slot
        FROM numbered
        INNER JOIN periods ON numbered.place = periods.place AND numbered.op = periods.op
    ),

    -- A kernel is known by the first operator of which it computes the most.
    owning_kernels AS MATERIALIZED (
        SELECT
            side,
            unit_id,
            hash(arg_min(struct_pack(place, op, slot), position)) AS group_id
        FROM slots
        WHERE is_compiled AND unit_id IS NOT NULL
        GROUP BY side, unit_id
    ),

    -- One that computes but parts of what others do goes with the last of those, which uses them.
    helping_kernels AS MATERIALIZED (
        SELECT
            calls.side,
            calls.unit_id,
            arg_max(owner.unit_id, compiled.position) AS owner_id
        FROM placed AS calls
        ANTI JOIN owning_kernels
            ON calls.side = owning_kernels.side AND calls.unit_id = owning_kernels.unit_id
        INNER JOIN compiled
            ON
                calls.side = compiled.side
                AND calls.region_id = compiled.region_id
                AND list_contains(compiled.kernel_ordinals, calls.ordinal)
        INNER JOIN owning_kernels AS owner
            ON compiled.side = owner.side AND compiled.unit_id = owner.unit_id
        GROUP BY calls.side, calls.unit_id
    ),

    slot_groups AS (
        SELECT
            slots.place,
            slots.op,
            slots.slot,
            bool_or(slots.is_compiled) AS is_compiled,
            min(owning_kernels.group_id) AS group_id
        FROM slots
        INNER JOIN coarse ON slots.side = coarse.side
        LEFT JOIN owning_kernels
            ON slots.side = owning_kernels.side AND slots.unit_id = owning_kernels.unit_id
        GROUP BY slots.place, slots.op, slots.slot
    ),

    -- Each unit of the other side once: a compiled kernel as the first operator it computes.
    anchors AS (
        SELECT slots.side, slots.unit_id, slots.place, slots.op, slots.slot, slots.start_ns
        FROM slots
        INNER JOIN coarse ON slots.side <> coarse.side
        WHERE slots.unit_id IS NOT NULL
        QUALIFY row_number() OVER (
            PARTITION BY slots.side, slots.unit_id ORDER BY slots.position
        ) = 1
    ),

    -- Units of functions that were compiled, with no operator of their name and number there.
    strangers AS (
        SELECT units.side, units.unit_id, units.place, units.start_ns
        FROM placed AS units
        INNER JOIN coarse ON units.side <> coarse.side
        WHERE
            units.region_id IS NULL
            AND units.place IN (SELECT place FROM compiled)
            AND (units.place, units.short_name) NOT IN (SELECT (place, op) FROM compiled)
    ),

    met AS (
        SELECT
            anchors.side,
            anchors.unit_id,
            anchors.place,
            anchors.start_ns,
            slot_groups.group_id,
            coalesce(slot_groups.is_compiled, TRUE) AS is_compiled
        FROM anchors
        LEFT JOIN slot_groups
            ON
                anchors.place = slot_groups.place
                AND anchors.op = slot_groups.op
                AND anchors.slot = slot_groups.slot
        UNION ALL
        SELECT side, unit_id, place, start_ns, NULL AS group_id, TRUE AS is_compiled
        FROM strangers
    ),

    -- A call of a function begins with its first operator.
    in_calls AS (
        SELECT
            met.*,
            sum(CASE WHEN units.frame_order = 1 THEN 1 ELSE 0 END) OVER (
                PARTITION BY met.place ORDER BY met.start_ns, met.unit_id
            ) AS function_call
        FROM met
        INNER JOIN placed AS units ON met.side = units.side AND met.unit_id = units.unit_id
    ),

    by_program AS (
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
        FROM in_calls
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
            )
    ),

    found AS (
        SELECT * FROM by_program WHERE group_id IS NOT NULL
        UNION ALL
        SELECT kernel.side, kernel.unit_id, kernel.group_id, 'provenance' AS evidence
        FROM owning_kernels AS kernel
        INNER JOIN coarse ON kernel.side = coarse.side
    ),

    grouped AS MATERIALIZED (
        SELECT * FROM found
        UNION ALL
        SELECT helping.side, helping.unit_id, owner.group_id, owner.evidence
        FROM helping_kernels AS helping
        INNER JOIN found AS owner
            ON helping.side = owner.side AND helping.owner_id = owner.unit_id
    )

    -- A group of one side alone finds its counterpart otherwise, or has none.
    SELECT grouped.*
    FROM grouped
    INNER JOIN (
        SELECT one.group_id
        FROM grouped AS one
        GROUP BY one.group_id
        HAVING min(one.side) <> max(one.side)
    ) AS shared ON grouped.group_id = shared.group_id;
