-- Part of `kernel_diff` and `compared_work_items`: the device activities that count in a comparison
-- of two runs: `compared_activities(base, other, rank := NULL, nth_step := NULL)`.
-- One row: an activity that the compared step of a side launched. There are no rows if the host is
-- compared.
--
-- side, run_id
-- event_id      the activity (`kernels.event_id`)
-- name          kernel, copy or memset
-- is_kernel     whether the activity is a kernel, not a copy or memset
-- class
-- start_ns      Unix time at which the activity began, ns
-- ns            length of the activity within the measured window, ns
-- launch_id     call that launched the activity (`events.event_id`)
-- top_op_id     outermost operator around the launching call (`ops.event_id`)
-- is_in_graph   whether a graph launch owns the activity, outside any operator or with the operator
--               that the graph recorded
-- graph_op      in a graph: outermost operator around the call that the graph recorded, or the name
--               in an annotation of the graph's node; null if unknown
-- module_id     in a graph: innermost nn.Module around that call (`module_tree.module_id`)
-- work_item_id  the work item of `compared_work_items`: in a graph, the first activity of the same
--               call of the recorded operator; else the outermost operator, or the activity itself
CREATE MACRO compared_activities(base, other, rank := NULL, nth_step := NULL) AS TABLE
    SELECT
        measured.side,
        measured.run_id,
        kernel.event_id,
        kernel.name,
        kernel.kind = 'kernel' AS is_kernel,
        kernel.class,
        kernel.start_ns,
        least(kernel.start_ns + kernel.dur_ns, measured.end_ns)
        - greatest(kernel.start_ns, measured.start_ns) AS ns,
        kernel.launch_id,
        kernel.top_op_id,
        coalesce(kernel.is_graph_launch, FALSE)
        AND (kernel.top_op_id IS NULL OR kernel.graph_call_id IS NOT NULL) AS is_in_graph,
        coalesce(kernel.graph_top_op, kernel.graph_label) AS graph_op,
        kernel.graph_module_id AS module_id,
        work_item_of(kernel.graph_call_id, kernel.top_op_id, kernel.event_id) AS work_item_id
    FROM compared_windows(base, other, rank := rank, nth_step := nth_step) AS measured
    INNER JOIN kernels AS kernel
        ON
            measured.run_id = kernel.run_id
            AND measured.source_id = kernel.source_id
            AND measured.device_id = kernel.device_id
            AND (measured.step IS NULL OR measured.step = kernel.step)
            AND measured.end_ns >= kernel.start_ns
            AND measured.start_ns <= kernel.start_ns + kernel.dur_ns
    -- Exclude activities that only touch the window.
    WHERE
        kernel.run_id IN (base, other)
        AND measured.measure = 'device'
        AND (
            kernel.dur_ns = 0
            OR least(kernel.start_ns + kernel.dur_ns, measured.end_ns)
            > greatest(kernel.start_ns, measured.start_ns)
        );
