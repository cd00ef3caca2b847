-- Part of `alignment`: which kernels of compiled graphs stand against which operators, by torch's
-- compile log: `provenance_groups(work_items, base, other)`, of a table like `compared_work_items`
-- with `is_coarse`: whether a work item is of the side whose kernels do the work of several
-- operators.
-- One row: a work item of either side that has provenance, or stands between some that have.
--
-- side          base or other
-- work_item_id  the work item (`compared_work_items.work_item_id`)
-- group_id      the same for what stands against each other
-- evidence      provenance, or order for an operator that the compiled program has under another
--               name, or not at all: it goes with what was executed before it in its function
--
-- Operators and compiled programs meet in the functions of the user, by the number of times that a
-- function has called an operator of that name.
CREATE MACRO provenance_groups(work_items, base, other) AS TABLE
    WITH
    programs AS MATERIALIZED (FROM compiled_programs(work_items, base, other)),

    -- A program does not say for which function of the user torch's own functions called an
    -- operator: both have short_frame `torch`.
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

    -- A kernel that computes only parts of what others do goes with the last of those: it uses
    -- them.
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

    -- What only one side has is left to other evidence.
    SELECT side, work_item_id, group_id, evidence
    FROM all_groups
    WHERE group_id IN (
        SELECT shared.group_id
        FROM all_groups AS shared
        GROUP BY shared.group_id
        HAVING min(shared.side) <> max(shared.side)
    );
