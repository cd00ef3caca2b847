-- The alignment of two runs: groups of work items that correspond to each other: `alignment(base,
-- other, rank := NULL, nth_step := NULL)`. Work items are aligned by their origin. Every work item
-- of both sides is in exactly one group.
-- One row: a work item of `compared_work_items`.
--
-- side, work_item_id, group_id
-- evidence  provenance: torch's compile log lists the operators that the kernel computes. source:
--           the same function of the user, in the same nn.Modules. shapes: the same name and
--           shapes. order: the same position in the execution order of a compiled function, or of
--           the operators of a name. kernel: the same kernel, alone or in a graph. fusion: the name
--           of the fused kernel contains the operator. name: only the same name. none: there is no
--           counterpart
CREATE MACRO alignment(base, other, rank := NULL, nth_step := NULL) AS TABLE
    WITH
    compared AS MATERIALIZED (
        SELECT
            *,
            regexp_matches(name, '^(\(graph\) )?(triton|cpp)_.*fused_') AS is_fused
        FROM compared_work_items(base, other, rank := rank, nth_step := nth_step)
    ),

    -- The side whose kernels do the work of several operators of the other side: the compiled run.
    -- If both are compiled, it is the run with a compile log. If both or neither have one, it is
    -- the second run.
    coarse AS (
        SELECT
            coalesce(
                max(side) FILTER (WHERE region_id IS NOT NULL),
                max(side) FILTER (WHERE is_fused),
                'other'
            ) AS side
        FROM compared
    ),

    work_items AS MATERIALIZED (
        SELECT compared.*, compared.side = coarse.side AS is_coarse
        FROM compared
        CROSS JOIN coarse
    ),

    -- The most reliable evidence comes first. Each step aligns the work items that are left over.

    by_provenance AS MATERIALIZED (FROM provenance_groups('work_items', base, other)),

    unexplained AS MATERIALIZED (
        SELECT work_items.*
        FROM work_items
        ANTI JOIN by_provenance USING (side, work_item_id)
    ),

    ops_in_names AS MATERIALIZED (FROM fused_kernel_ops('unexplained')),

    by_kind AS MATERIALIZED (FROM kind_groups('unexplained', 'ops_in_names')),

    left_over AS (
        SELECT unexplained.*
        FROM unexplained
        INNER JOIN by_kind
            ON unexplained.side = by_kind.side AND unexplained.work_item_id = by_kind.work_item_id
        WHERE by_kind.evidence = 'none'
    ),

    by_fusion AS MATERIALIZED (FROM fusion_groups('left_over', 'ops_in_names'))

    SELECT side, work_item_id, group_id, evidence FROM by_provenance
    UNION ALL
    SELECT
        by_kind.side,
        by_kind.work_item_id,
        coalesce(by_fusion.group_id, by_kind.group_id) AS group_id,
        coalesce(by_fusion.evidence, by_kind.evidence) AS evidence
    FROM by_kind
    LEFT JOIN by_fusion
        ON by_kind.side = by_fusion.side AND by_kind.work_item_id = by_fusion.work_item_id;
