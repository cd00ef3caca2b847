-- Part of `provenance_groups`: the compiled kernels that compute the operators of the finer side:
-- `program_op_groups(work_items, slots)`, with a table in the form of `compared_work_items` that
-- also has `is_coarse`, and a table in the form of `program_slots`.
-- One row: a work item of the finer side, in a function that the other side compiled.
--
-- side, work_item_id
-- group_id  group of the kernel that computes the work item; null if there is none
-- evidence  provenance; or order for an operator that the compiled program lacks or names
--           differently, which is grouped with the operator executed before it in its function
CREATE MACRO program_op_groups(work_items, slots) AS TABLE
    WITH
    coarse_slots AS (
        SELECT
            short_frame,
            op,
            slot,
            bool_or(is_compiled) AS is_compiled,
            min(group_id) AS group_id
        FROM query_table(slots)
        WHERE is_coarse
        GROUP BY short_frame, op, slot
    ),

    -- Each work item occurs once. A compiled kernel of this side counts as the first operator that
    -- it computes.
    fine_work_items AS (
        SELECT side, work_item_id, short_frame, op, slot, start_ns
        FROM query_table(slots)
        WHERE NOT is_coarse AND work_item_id IS NOT NULL
        QUALIFY row_number() OVER (PARTITION BY side, work_item_id ORDER BY ordinal) = 1
        UNION ALL
        -- Operators with names that the compiled program does not have in this function.
        SELECT side, work_item_id, short_frame, NULL AS op, NULL AS slot, start_ns
        FROM query_table(work_items)
        WHERE
            NOT is_coarse
            AND region_id IS NULL
            AND short_frame IN (SELECT short_frame FROM query_table(slots) WHERE is_compiled)
            AND (short_frame, short_name) NOT IN (
                SELECT (short_frame, op) FROM query_table(slots) WHERE is_compiled
            )
    ),

    -- A call of a function begins with its first operator.
    in_function_calls AS (
        SELECT
            fine.side,
            fine.work_item_id,
            fine.short_frame,
            fine.start_ns,
            coarse_slots.group_id,
            coalesce(coarse_slots.is_compiled, TRUE) AS is_compiled,
            sum(CASE WHEN work_items.frame_ordinal = 1 THEN 1 ELSE 0 END) OVER (
                PARTITION BY fine.short_frame ORDER BY fine.start_ns, fine.work_item_id
            ) AS function_call
        FROM fine_work_items AS fine
        INNER JOIN query_table(work_items) AS work_items
            ON fine.side = work_items.side AND fine.work_item_id = work_items.work_item_id
        LEFT JOIN coarse_slots
            ON
                fine.short_frame = coarse_slots.short_frame
                AND fine.op = coarse_slots.op
                AND fine.slot = coarse_slots.slot
    )

    SELECT
        side,
        work_item_id,
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
            PARTITION BY short_frame, function_call ORDER BY start_ns, work_item_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ),
        after_in_function AS (
            PARTITION BY short_frame, function_call ORDER BY start_ns, work_item_id
            ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        ),
        before AS (
            ORDER BY start_ns, work_item_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        );
