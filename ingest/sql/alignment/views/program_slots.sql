-- Part of `provenance_groups`: the operator calls of two programs, numbered so that the same call
-- has the same slot on both sides: `program_slots(work_items, programs)`, of a table like
-- `compared_work_items` with `is_coarse`, and one like `compiled_programs`. Calls are
-- counted by function and operator.
-- One row: a call of an operator that a compiled graph has, by such a graph or outside of it.
--
-- side          base or other
-- is_coarse     whether this is the side whose kernels do the work of several operators
-- is_compiled   whether a compiled graph made the call
-- short_frame   function that made it, as in `compiled_programs`
-- op            operator, as `short_name` of the work items
-- slot          number of the call among those of this operator by this function, from 0
-- start_ns      Unix time at which it began, or the compiled graph's first kernel, ns
-- ordinal       its position in the compiled graph's program; 0 outside of it
-- work_item_id  the work item that it is counted under (`compared_work_items.work_item_id`); null
--               where there is none
-- group_id      of a compiled kernel, the group of its work item: it is known by the first operator
--               of which it computes the most
CREATE MACRO program_slots(work_items, programs) AS TABLE
    WITH
    calls AS (
        SELECT side, TRUE AS is_compiled, short_frame, op, start_ns, ordinal, work_item_id
        FROM query_table(programs)
        UNION ALL
        SELECT
            side,
            FALSE AS is_compiled,
            short_frame,
            short_name AS op,
            start_ns,
            0 AS ordinal,
            work_item_id
        FROM query_table(work_items)
        WHERE
            region_id IS NULL
            AND (short_frame, short_name) IN (SELECT (short_frame, op) FROM query_table(programs))
    ),

    sides AS (
        SELECT side, bool_or(is_coarse) AS is_coarse
        FROM query_table(work_items)
        GROUP BY side
    ),

    numbered_calls AS (
        SELECT
            *,
            row_number() OVER (
                PARTITION BY side, short_frame, op ORDER BY start_ns, ordinal, work_item_id
            ) - 1 AS number
        FROM calls
    ),

    counted_calls AS (
        SELECT
            calls.side,
            calls.short_frame,
            calls.op,
            count(*) AS number
        FROM calls
        GROUP BY calls.side, calls.short_frame, calls.op
    ),

    -- Where one side repeats what the other did several times, the slots repeat.
    periods AS (
        SELECT
            short_frame,
            op,
            CASE
                WHEN max(number) % min(number) = 0 THEN min(number) ELSE max(number)
            END AS slots
        FROM counted_calls
        GROUP BY short_frame, op
    ),

    slotted_calls AS (
        SELECT
            numbered_calls.* EXCLUDE (number),
            sides.is_coarse,
            numbered_calls.number % periods.slots AS slot
        FROM numbered_calls
        INNER JOIN sides ON numbered_calls.side = sides.side
        INNER JOIN periods
            ON numbered_calls.short_frame = periods.short_frame AND numbered_calls.op = periods.op
    )

    SELECT
        side,
        is_coarse,
        is_compiled,
        short_frame,
        op,
        slot,
        start_ns,
        ordinal,
        work_item_id,
        if(
            is_compiled AND work_item_id IS NOT NULL,
            hash(first_value(struct_pack(short_frame, op, slot)) OVER (
                PARTITION BY side, is_compiled, work_item_id ORDER BY ordinal
            )),
            NULL
        ) AS group_id
    FROM slotted_calls;
