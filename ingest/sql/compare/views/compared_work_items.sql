-- The work of two runs, divided into the items in which it is compared: `compared_work_items(base,
-- other, rank := NULL, nth_step := NULL)`. Of each run its median step counts, or the one that
-- `nth_step` names; without steps the whole recording: the times add up to what the device, or the
-- host's operators, took in it.
-- One row: an outermost operator that did work on one side, or a device activity that belongs to
-- no operator.
--
-- side           base or other
-- run_id         the run
-- work_item_id   the operator, or the activity (`events.event_id`)
-- name           operator, without a number that differs from run to run (`compared_name`);
--                without an operator the kernel, in a graph `(graph) <kernel>`; on the host
--                `compiled code` for what calls of compiled graphs take outside of operators
-- short_name     as in `top_ops`; without an operator, the kernel or `compiled code`
-- kernel         kernel that took longest of it; null on the host
-- class          compute, communication or copy, of that kernel; null on the host
-- start_ns       Unix time at which it, or its first activity, began, ns
-- ns             time of its activities on the device, or its own on the host, within the steps, ns
-- kernels        kernels among its activities; null on the host
-- launches       calls that launched them; the launch of a graph counts with its first kernel; null
--                on the host
-- module         classes of the nn.Modules around it, outermost first: `Flux/Block/Linear`
-- host_frame     innermost function of the user around it
-- short_frame    the same without the file's directories: what two machines have in common
-- frame_ordinal  its number among the operators of that call of the function, from 1
-- input_dims     shapes of its inputs
-- region_id      call of a compiled graph in which it was a kernel call
--                (`compiled_calls.region_id`); null where it was none, or torch's compile log does
--                not tell
-- log_source_id  compile log that tells so (`sources.source_id`)
-- compile_id     compilation of the graph (`compilations.compile_id`)
-- graph_index    number of the graph in it
-- ordinal        the kernel call (`compiled_kernels.ordinal`)
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
            coalesce(top_op_id, event_id) AS work_item_id,
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
        GROUP BY side, run_id, coalesce(top_op_id, event_id)
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
            compared_name(top.name),
            if(work_items.is_in_graph, '(graph) ', '') || work_items.kernel
        ) AS name,
        coalesce(top.short_name, work_items.kernel, work_items.name) AS short_name,
        work_items.kernel,
        work_items.class,
        work_items.start_ns,
        work_items.ns,
        work_items.kernels,
        work_items.launches,
        regexp_replace(
            regexp_replace(top.module, '_[0-9]+(/|$)', '\1', 'g'), '^OptimizedModule/?', ''
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
    LEFT JOIN
        calls
        ON work_items.run_id = calls.run_id AND work_items.work_item_id = calls.work_item_id;
