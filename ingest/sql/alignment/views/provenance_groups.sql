-- Part of `alignment`: kernels of compiled graphs, and the operators that they compute according to
-- torch's compile log: `provenance_groups(work_items, base, other)`, with a table in the form of
-- `compared_work_items` that also has `is_coarse`: whether the kernels of the item's side do the
-- work of several operators.
-- One row: a work item of either side that has provenance, or that runs between work items that
-- have it.
--
-- Operators and compiled programs are matched within the functions of the user, by the number of
-- times that a function has called an operator of that name.
--
-- side, work_item_id, group_id
-- evidence  provenance; or order for an operator that the compiled program lacks or names
--           differently, which is grouped with the operator executed before it in its function
CREATE MACRO provenance_groups(work_items, base, other) AS TABLE
    WITH
    programs AS MATERIALIZED (FROM compiled_programs(work_items, base, other)),

    -- A program does not record for which function of the user a function of torch called an
    -- operator. Both therefore get the short_frame `torch`.
    placed_work_items AS MATERIALIZED (
        SELECT
            * REPLACE (
                if(
                    ('torch', short_name) IN (SELECT (short_frame, op) FROM programs)
                    AND (short_frame, short_name) NOT IN (SELECT (short_frame, op) FROM programs),
                    'torch',
                    short_frame
                ) AS short_frame
            )
        FROM query_table(work_items)
        WHERE EXISTS (FROM programs)
    ),

    slots AS MATERIALIZED (FROM program_slots('placed_work_items', 'programs')),

    computing_kernels AS MATERIALIZED (
        SELECT DISTINCT side, is_coarse, work_item_id, group_id
        FROM slots
        WHERE group_id IS NOT NULL
    ),

    -- A kernel that computes only parts of operators of other kernels joins the last of those
    -- kernels, which uses its results.
    helping_kernels AS MATERIALIZED (
        SELECT
            helping.side,
            helping.work_item_id,
            arg_max(computing.work_item_id, programs.ordinal) AS computing_id
        FROM placed_work_items AS helping
        ANTI JOIN computing_kernels AS known
            ON helping.side = known.side AND helping.work_item_id = known.work_item_id
        INNER JOIN programs
            ON
                helping.side = programs.side
                AND helping.region_id = programs.region_id
                AND list_contains(programs.kernel_ordinals, helping.ordinal)
        INNER JOIN computing_kernels AS computing
            ON programs.side = computing.side AND programs.work_item_id = computing.work_item_id
        GROUP BY helping.side, helping.work_item_id
    ),

    known_groups AS MATERIALIZED (
        SELECT side, work_item_id, group_id, 'provenance' AS evidence
        FROM computing_kernels
        WHERE is_coarse
        UNION ALL
        FROM program_op_groups('placed_work_items', 'slots')
        WHERE group_id IS NOT NULL
    ),

    all_groups AS MATERIALIZED (
        FROM known_groups
        UNION ALL
        SELECT helping.side, helping.work_item_id, known.group_id, known.evidence
        FROM helping_kernels AS helping
        INNER JOIN known_groups AS known
            ON helping.side = known.side AND helping.computing_id = known.work_item_id
    )

    -- Groups with work of only one side are left to other evidence.
    SELECT side, work_item_id, group_id, evidence
    FROM all_groups
    WHERE group_id IN (
        SELECT shared.group_id
        FROM all_groups AS shared
        GROUP BY shared.group_id
        HAVING min(shared.side) <> max(shared.side)
    );
