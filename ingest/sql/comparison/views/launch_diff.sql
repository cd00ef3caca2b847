-- Two runs side by side, launch by launch: `launch_diff(base, other, rank := NULL, nth_step :=
-- NULL)`. It divides each row of `kernel_diff` by the operator that launched the kernel, by its
-- shapes, and by the grid and block. The arguments are those of `kernel_diff`.
-- One row: activities with the same name, innermost operator, shapes, grid and block.
--
-- name           name of the kernel, copy or memset, or of the operator on the host
-- op             innermost operator around the launch, or around the call that a CUDA graph
--                recorded, or the name in an annotation of the graph's node; null if unknown
-- shapes         types and shapes of the tensors among its inputs, for example `bf16 [32, 77,
--                768]`; null if none were recorded
-- grid           number of blocks in x, y and z; null if unknown
-- block          number of threads of a block in x, y and z; null if unknown
-- base_calls     number of these activities in the first run
-- other_calls    number of these activities in the second run
-- base_ns        sum of their durations in the first run, ns
-- other_ns       sum of their durations in the second run, ns
-- change_ns
-- percent        change in percent of the first; null if that is 0
-- base_longest   the longest of them in the first run: its rank, start_ns and dur_ns; null if there
--                are no such activities
-- other_longest  the longest of them in the second run, in the same form
CREATE MACRO launch_diff(base, other, rank := NULL, nth_step := NULL) AS TABLE
    WITH
    work AS (
        SELECT
            activity.side,
            activity.name,
            activity.ns,
            kernel.run_id,
            coalesce(kernel.graph_op, kernel.op, kernel.graph_label) AS op,
            if(kernel.graph_op IS NULL, kernel.op_id, NULL) AS op_id,
            kernel.recorded_id,
            kernel.grid,
            kernel.block,
            struct_pack(
                rank := kernel.rank, start_ns := kernel.start_ns, dur_ns := kernel.dur_ns
            ) AS place
        FROM compared_activities(base, other, rank := rank, nth_step := nth_step) AS activity
        INNER JOIN kernels AS kernel
            ON activity.run_id = kernel.run_id AND activity.event_id = kernel.event_id
        WHERE kernel.run_id IN (base, other)
        UNION ALL BY NAME
        SELECT
            call.side,
            call.name,
            call.ns,
            op.run_id,
            call.name AS op,
            op.event_id AS op_id,
            struct_pack(
                rank := op.rank, start_ns := op.start_ns, dur_ns := op.dur_ns
            ) AS place
        FROM compared_host_work(base, other, rank := rank, nth_step := nth_step) AS call
        INNER JOIN ops AS op ON call.run_id = op.run_id AND call.event_id = op.event_id
        WHERE op.run_id IN (base, other)
    ),

    shaped AS (
        SELECT
            work.*,
            shapes_text(
                coalesce(op.input_dims, node.input_dims), coalesce(op.input_types, node.input_types)
            ) AS shapes
        FROM work
        LEFT JOIN ops AS op
            ON
                work.run_id = op.run_id
                AND work.op_id = op.event_id
                AND op.run_id IN (base, other)
        LEFT JOIN graph_nodes AS node
            ON
                work.run_id = node.run_id
                AND work.recorded_id = node.recorded_id
                AND node.run_id IN (base, other)
    ),

    sums AS (
        SELECT
            name,
            op,
            shapes,
            grid,
            block,
            count(*) FILTER (WHERE side = 'base') AS base_calls,
            count(*) FILTER (WHERE side = 'other') AS other_calls,
            coalesce(sum(ns) FILTER (WHERE side = 'base'), 0)::BIGINT AS base_ns,
            coalesce(sum(ns) FILTER (WHERE side = 'other'), 0)::BIGINT AS other_ns,
            arg_max(place, (place.dur_ns, -place.start_ns)) FILTER (WHERE side = 'base')
                AS base_longest,
            arg_max(place, (place.dur_ns, -place.start_ns)) FILTER (WHERE side = 'other')
                AS other_longest
        FROM shaped
        GROUP BY name, op, shapes, grid, block
    )

    SELECT
        * EXCLUDE (base_longest, other_longest),
        other_ns - base_ns AS change_ns,
        percent_change(other_ns - base_ns, base_ns) AS percent,
        base_longest,
        other_longest
    FROM sums;
