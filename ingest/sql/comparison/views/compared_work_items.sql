-- The work of two runs, divided into the items that a comparison aligns: `compared_work_items(base,
-- other, rank := NULL, nth_step := NULL)`. It uses the median step of each run, or step number
-- `nth_step`; for a run without steps, the whole recording. The times add up to the time of the
-- device, or of the host's operators, in that step.
-- One row: an outermost operator that did work, also in a CUDA graph, or a device activity that
-- belongs to no operator.
--
-- side, run_id
-- work_item_id   the operator; in a graph its first activity, and without an operator the activity
--                (`events.event_id`)
-- name           name of the operator, without numbers that differ from run to run
--                (`compared_name`). Without an operator, it is the kernel, or `(graph) <kernel>` in
--                a graph. On the host, `compiled code` is the time in calls of compiled graphs
--                outside of operators
-- short_name     `short_name` of the operator, as in `top_ops`; without an operator, the kernel or
--                `compiled code`
-- kernel         the longest kernel, copy or memset of the item; null on the host
-- class          class of the longest kernel: compute, communication or copy; null on the host
-- start_ns       Unix time at which the item's first activity began, or on the host the item
--                itself, ns
-- ns             time of the item's activities on the device, or of the item on the host, within
--                the step, ns
-- kernels        number of kernels among the item's activities; null on the host
-- launches       number of calls that launched the item's kernels; a graph launch counts with the
--                first kernel of the graph; null on the host, and if no launch was recorded
-- module         classes of the nn.Modules around the item, outermost first: `Flux/Block/Linear`
-- host_frame     innermost function of the user's program around the item
-- short_frame    `host_frame` without the directories of the file, so that runs of two machines
--                match
-- frame_ordinal  number of the operator among the operators of that call of the function, from 1
-- input_dims     shapes of the inputs
-- region_id      call of the compiled graph that made the item's kernel call
--                (`compiled_calls.region_id`); null if there is none, or torch's compile log does
--                not record it
-- log_source_id  compile log that records the kernel call (`sources.source_id`)
-- compile_id     compilation of the compiled graph (`compilations.compile_id`)
-- graph_index    number of the graph in the compilation
-- ordinal        number of the kernel call (`compiled_kernels.ordinal`)
CREATE MACRO compared_work_items(base, other, rank := NULL, nth_step := NULL) AS TABLE
    WITH
    activities AS MATERIALIZED (
        SELECT
            *,
            NOT is_in_graph OR row_number() OVER (
                PARTITION BY side, is_in_graph, if(is_in_graph, launch_id, event_id)
                ORDER BY NOT is_kernel, start_ns, event_id
            ) = 1 AS counts_launch
        FROM compared_activities(base, other, rank := rank, nth_step := nth_step)
    ),

    on_device AS (
        SELECT
            side,
            run_id,
            work_item_id,
            arg_min(graph_op, (start_ns, event_id)) AS graph_op,
            arg_min(module_id, (start_ns, event_id)) AS module_id,
            arg_max(name, (ns, name)) AS kernel,
            arg_max(class, (ns, class)) AS class,
            bool_or(is_in_graph) AS is_in_graph,
            min(start_ns) AS start_ns,
            sum(ns)::BIGINT AS ns,
            count(*) FILTER (WHERE is_kernel) AS kernels,
            if(
                side IN (
                    SELECT known.side FROM activities AS known WHERE known.launch_id IS NOT NULL
                ),
                count(DISTINCT launch_id) FILTER (WHERE is_kernel AND counts_launch),
                NULL
            ) AS launches
        FROM activities
        GROUP BY side, run_id, work_item_id
    ),

    work_items AS (
        SELECT * FROM on_device
        UNION ALL BY NAME
        SELECT side, run_id, event_id AS work_item_id, name, start_ns, ns
        FROM compared_host_work(base, other, rank := rank, nth_step := nth_step)
    ),

    calls AS (
        SELECT
            run_id,
            coalesce(event_id, kernel_id) AS work_item_id,
            region_id,
            log_source_id,
            compile_id,
            graph_index,
            ordinal
        FROM compiled_calls
        WHERE run_id IN (base, other)
    )

    SELECT
        work_items.side,
        work_items.run_id,
        work_items.work_item_id,
        coalesce(
            work_items.name,
            compared_name(coalesce(top.name, work_items.graph_op)),
            if(work_items.is_in_graph, '(graph) ', '') || work_items.kernel
        ) AS name,
        coalesce(
            top.short_name, short_op(work_items.graph_op), work_items.kernel, work_items.name
        ) AS short_name,
        work_items.kernel,
        work_items.class,
        work_items.start_ns,
        work_items.ns,
        work_items.kernels,
        work_items.launches,
        regexp_replace(
            regexp_replace(coalesce(top.module, tree.module), '_[0-9]+(/|$)', '\1', 'g'),
            '^OptimizedModule/?',
            ''
        ) AS module,
        top.host_frame,
        regexp_extract(top.host_frame, '[^/]*$') AS short_frame,
        top.frame_ordinal,
        top.input_dims,
        calls.region_id,
        calls.log_source_id,
        calls.compile_id,
        calls.graph_index,
        calls.ordinal
    FROM work_items
    LEFT JOIN top_ops AS top
        ON
            work_items.run_id = top.run_id
            AND work_items.work_item_id = top.event_id
            AND top.run_id IN (base, other)
    LEFT JOIN module_tree AS tree
        ON
            work_items.run_id = tree.run_id
            AND work_items.module_id = tree.module_id
            AND tree.run_id IN (base, other)
    LEFT JOIN
        calls
        ON work_items.run_id = calls.run_id AND work_items.work_item_id = calls.work_item_id;
