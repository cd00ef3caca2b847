-- The operators of two runs side by side, aligned by their origin in the program: `op_diff(base,
-- other, rank := NULL, nth_step := NULL)`. It uses the median step of each run, or step number
-- `nth_step`; for a run without steps, the whole recording. The rows add up to the work of each
-- run.
-- One row: operators or kernels of one run with their counterparts in the other run, if there are
-- any.
-- Start here: Which operators and kernels became faster or slower?
--
-- status          fused: a compiled kernel replaces several operators. only_base, only_other: there
--                 is no counterpart in the other run. more_calls, fewer_calls: the number of calls
--                 changed by over 5 %. Otherwise same (within 5 %), faster or slower
-- name            name of the fused kernel, or else of the operator
-- module          classes of the nn.Modules around it, outermost first, without numbers; if there
--                 are several paths, their common beginning
-- host_frame      function of the user's program; null if it is unknown, or if there are several
-- evidence        evidence for the alignment, as in `alignment`
-- class           compute, communication or copy; null on the host
-- base_ops        operators of the first run, with name, host_frame, shapes, calls, ns and evidence
--                 of each; next to operators with provenance, some may be aligned by order alone
-- other_ops       operators of the second run, in the same form
-- base_calls      calls of operators in the first run
-- other_calls     calls of operators in the second run
-- base_kernels    kernels in the first run; null on the host
-- other_kernels   kernels in the second run; null on the host
-- kernels_saved   kernels in the first run minus kernels in the second; null on the host
-- base_launches   calls that launched the kernels in the first run; null on the host
-- other_launches  calls that launched the kernels in the second run; null on the host
-- launches_saved  launches in the first run minus launches in the second; null on the host
-- base_ns         device time, or on the host time of the operators, in the first run, ns
-- other_ns        device time, or on the host time of the operators, in the second run, ns
-- change_ns
-- of_calls_ns     part of the change that is due to more or fewer calls, at the first run's time
--                 per call, ns; null if a side has no calls, or the row is fused
-- of_time_ns      part of the change that is due to the time per call, ns; null if `of_calls_ns` is
--                 null
-- percent         change in percent of the first; null if that is 0
-- row_id          identifies the row in this comparison
-- group_ids       groups of `alignment` whose work items are in the row
CREATE MACRO op_diff(base, other, rank := NULL, nth_step := NULL) AS TABLE
    WITH
    kinds AS MATERIALIZED (
        SELECT
            aligned.group_id,
            work_items.side,
            work_items.name,
            work_items.host_frame,
            work_items.input_dims,
            work_items.module,
            -- Within a group with provenance, some work items may be aligned by order.
            aligned.evidence,
            bool_or(aligned.evidence = 'provenance') AS has_provenance,
            arg_max(work_items.class, (work_items.ns, work_items.class)) AS class,
            min(work_items.start_ns) AS start_ns,
            count(*) AS calls,
            sum(work_items.ns)::BIGINT AS ns,
            sum(work_items.kernels)::BIGINT AS kernels,
            sum(work_items.launches)::BIGINT AS launches
        FROM compared_work_items(base, other, rank := rank, nth_step := nth_step) AS work_items
        INNER JOIN alignment(base, other, rank := rank, nth_step := nth_step) AS aligned
            ON work_items.side = aligned.side AND work_items.work_item_id = aligned.work_item_id
        GROUP BY ALL
    ),

    -- Groups of the same kernels and operators become one row, for example those of all blocks of
    -- a model.
    rows_of_groups AS MATERIALIZED (
        SELECT
            group_id,
            CASE
                WHEN bool_or(has_provenance)
                    THEN hash(
                        list_sort(list_distinct(list(struct_pack(side, name, host_frame, module))))
                    )
                ELSE group_id
            END AS row_id
        FROM kinds
        GROUP BY group_id
    ),

    groups_of_rows AS (
        SELECT row_id, list(group_id ORDER BY group_id) AS group_ids
        FROM rows_of_groups
        GROUP BY row_id
    ),

    summed AS (
        SELECT
            rows_of_groups.row_id,
            kinds.side,
            kinds.name,
            kinds.host_frame,
            kinds.input_dims,
            kinds.module,
            kinds.evidence,
            bool_or(kinds.has_provenance) AS has_provenance,
            arg_max(kinds.class, (kinds.ns, kinds.class)) AS class,
            min(kinds.start_ns) AS start_ns,
            sum(COLUMNS(['calls', 'ns', 'kernels', 'launches']))::BIGINT
        FROM kinds
        INNER JOIN rows_of_groups ON kinds.group_id = rows_of_groups.group_id
        GROUP BY ALL
    ),

    -- The position of a row in the program is that of the side with more calls, or with deeper
    -- modules.
    with_finer_side AS (
        SELECT
            *,
            side = arg_max(side, (side_calls, depth, side)) OVER (PARTITION BY row_id) AS is_finer
        FROM (
            SELECT
                *,
                sum(calls) OVER of_side AS side_calls,
                max(coalesce(length(module), 0)) OVER of_side AS depth
            FROM summed
            WINDOW of_side AS (PARTITION BY row_id, side)
        )
    ),

    sides AS (
        SELECT
            row_id,
            if(bool_or(has_provenance), 'provenance', min(evidence)) AS evidence,
            arg_max(class, (ns, class)) AS class,
            string_split(min(module) FILTER (WHERE is_finer), '/') AS first_modules,
            string_split(max(module) FILTER (WHERE is_finer), '/') AS last_modules,
            CASE
                WHEN
                    min(host_frame) FILTER (WHERE is_finer)
                    = max(host_frame) FILTER (WHERE is_finer)
                    THEN min(host_frame) FILTER (WHERE is_finer)
            END AS host_frame,
            arg_max(name, (ns, name)) FILTER (WHERE side = 'base') AS base_name,
            arg_max(name, (ns, name)) FILTER (WHERE side = 'other') AS other_name,
            list(
                struct_pack(
                    name, host_frame := host_frame, shapes := input_dims,
                    calls := calls, ns := ns, evidence
                )
                ORDER BY start_ns, name, input_dims, host_frame, evidence
            ) FILTER (WHERE side = 'base') AS base_ops,
            list(
                struct_pack(
                    name, host_frame := host_frame, shapes := input_dims,
                    calls := calls, ns := ns, evidence
                )
                ORDER BY start_ns, name, input_dims, host_frame, evidence
            ) FILTER (WHERE side = 'other') AS other_ops,
            (sum(calls) FILTER (WHERE side = 'base' AND evidence <> 'order'))::BIGINT
                AS base_calls_not_by_order,
            (sum(calls) FILTER (WHERE side = 'other' AND evidence <> 'order'))::BIGINT
                AS other_calls_not_by_order,
            (sum(calls) FILTER (WHERE side = 'base'))::BIGINT AS base_calls,
            (sum(calls) FILTER (WHERE side = 'other'))::BIGINT AS other_calls,
            (sum(kernels) FILTER (WHERE side = 'base'))::BIGINT AS base_kernels,
            (sum(kernels) FILTER (WHERE side = 'other'))::BIGINT AS other_kernels,
            (sum(launches) FILTER (WHERE side = 'base'))::BIGINT AS base_launches,
            (sum(launches) FILTER (WHERE side = 'other'))::BIGINT AS other_launches,
            (sum(ns) FILTER (WHERE side = 'base'))::BIGINT AS base_ns,
            (sum(ns) FILTER (WHERE side = 'other'))::BIGINT AS other_ns
        FROM with_finer_side
        GROUP BY row_id
    )

    SELECT
        CASE
            WHEN other_name IS NULL THEN 'only_base'
            WHEN base_name IS NULL THEN 'only_other'
            WHEN
                evidence IN ('provenance', 'fusion')
                AND base_calls_not_by_order <> other_calls_not_by_order
                THEN 'fused'
            WHEN other_calls > 1.05 * base_calls THEN 'more_calls'
            WHEN other_calls < 0.95 * base_calls THEN 'fewer_calls'
            WHEN abs(other_ns - base_ns) <= 0.05 * base_ns THEN 'same'
            WHEN other_ns < base_ns THEN 'faster'
            ELSE 'slower'
        END AS status,
        CASE
            WHEN base_calls < other_calls THEN base_name ELSE coalesce(other_name, base_name)
        END AS name,
        -- The first and the last path in alphabetical order have the classes in common that all
        -- paths have.
        array_to_string([
            first_modules[depth] FOR depth IN range(1, len(first_modules) + 1)
            IF first_modules[:depth] = last_modules[:depth]
        ], '/') AS module,
        host_frame,
        evidence,
        class,
        base_ops,
        other_ops,
        coalesce(base_calls, 0) AS base_calls,
        coalesce(other_calls, 0) AS other_calls,
        base_kernels,
        other_kernels,
        coalesce(base_kernels, 0 * other_kernels) - coalesce(other_kernels, 0 * base_kernels)
            AS kernels_saved,
        base_launches,
        other_launches,
        coalesce(base_launches, 0 * other_launches) - coalesce(other_launches, 0 * base_launches)
            AS launches_saved,
        coalesce(base_ns, 0) AS base_ns,
        coalesce(other_ns, 0) AS other_ns,
        coalesce(other_ns, 0) - coalesce(base_ns, 0) AS change_ns,
        if(status = 'fused', NULL, (other_calls - base_calls) * base_ns / nullif(base_calls, 0))
            AS of_calls_ns,
        change_ns - of_calls_ns AS of_time_ns,
        percent_change(coalesce(other_ns, 0) - base_ns, base_ns) AS percent,
        format('{:x}', sides.row_id) AS row_id,
        groups_of_rows.group_ids
    FROM sides
    INNER JOIN groups_of_rows ON sides.row_id = groups_of_rows.row_id;
