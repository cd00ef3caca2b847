-- Part of `provenance_groups`: the operator calls of two programs, numbered so that the same call
-- has the same slot on both sides: `program_slots(units, programs)`, of a table like
-- `compared_units` with `steps` and `is_coarse`, and one like `compiled_programs`. Calls are
-- counted by function and operator, step for step.
-- One row: a call of an operator that a compiled graph has, by such a graph or outside of it.
--
-- side         base or other
-- is_coarse    whether this is the side whose kernels do the work of several operators
-- is_compiled  whether a compiled graph made the call
-- place        function that made it, as in `compiled_programs`
-- op           operator, as `short_name` of the units
-- slot         number of the call among those of this operator by this function in a step, from 0
-- start_ns     Unix time at which it began, or the compiled graph's first kernel, ns
-- position     its position in the compiled graph's program; 0 outside of it
-- unit_id      the unit that it is counted under; null where there is none
-- group_id     of a compiled kernel, the group of its unit: it is known by the first operator of
--              which it computes the most
CREATE MACRO program_slots(units, programs) AS TABLE
    WITH
    calls AS (
        SELECT side, TRUE AS is_compiled, place, op, start_ns, position, unit_id
        FROM query_table(programs)
        UNION ALL
        SELECT
            side,
            FALSE AS is_compiled,
            place,
            short_name AS op,
            start_ns,
            0 AS position,
            unit_id
        FROM query_table(units)
        WHERE
            region_id IS NULL
            AND (place, short_name) IN (SELECT (place, op) FROM query_table(programs))
    ),

    sides AS (
        SELECT side, any_value(steps) AS steps, bool_or(is_coarse) AS is_coarse
        FROM query_table(units)
        GROUP BY side
    ),

    numbered_calls AS (
        SELECT
            *,
            row_number() OVER (
                PARTITION BY side, place, op ORDER BY start_ns, position, unit_id
            ) - 1 AS number
        FROM calls
    ),

    calls_in_step AS (
        SELECT
            calls.side,
            calls.place,
            calls.op,
            CASE
                WHEN count(*) % any_value(sides.steps) = 0
                    THEN count(*) // any_value(sides.steps)
                ELSE count(*)
            END AS number
        FROM calls
        INNER JOIN sides ON calls.side = sides.side
        GROUP BY calls.side, calls.place, calls.op
    ),

    -- Where one side's step repeats the other's several times, the slots repeat.
    periods AS (
        SELECT
            place,
            op,
            CASE
                WHEN max(number) % min(number) = 0 THEN min(number) ELSE max(number)
            END AS slots
        FROM calls_in_step
        GROUP BY place, op
    ),

    slotted_calls AS (
        SELECT
            numbered_calls.* EXCLUDE (number),
            sides.is_coarse,
            numbered_calls.number % periods.slots AS slot
        FROM numbered_calls
        INNER JOIN sides ON numbered_calls.side = sides.side
        INNER JOIN periods
            ON numbered_calls.place = periods.place AND numbered_calls.op = periods.op
    )

    SELECT
        side,
        is_coarse,
        is_compiled,
        place,
        op,
        slot,
        start_ns,
        position,
        unit_id,
        if(
            is_compiled AND unit_id IS NOT NULL,
            hash(first_value(struct_pack(place, op, slot)) OVER (
                PARTITION BY side, is_compiled, unit_id ORDER BY position
            )),
            NULL
        ) AS group_id
    FROM slotted_calls;
