-- Part of `provenance_groups`: the operator calls of two programs, numbered so that equal calls
-- have the same slot on both sides: `program_slots(work_items, programs)`, with a table in the form
-- of `compared_work_items` that also has `is_coarse`, and a table in the form of
-- `compiled_programs`. Calls are numbered by function and operator.
-- One row: a call of an operator that occurs in a compiled graph, made by such a graph or outside
-- of it.
--
-- side
-- is_coarse     whether the kernels of this side do the work of several operators
-- is_compiled   whether a compiled graph made the call
-- short_frame   function that made the call, as in `compiled_programs`
-- op            name of the operator, in the form of `short_name` of the work items
-- slot          number of the call among the calls of this operator by this function, from 0
-- start_ns      Unix time at which the call began, or for a compiled graph its first kernel, ns
-- ordinal       position of the call in the compiled graph's program; 0 outside of it
-- work_item_id  work item under which the call is counted (`compared_work_items.work_item_id`);
--               null if there is none
-- group_id      group of the compiled kernel's work item, identified by the first operator that is
--               counted under it; null outside of compiled kernels
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

    -- If the number of calls on one side is a multiple of that on the other, the slots repeat.
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
