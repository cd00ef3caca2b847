-- The work of two runs in the units in which it is compared:
-- `compared_units(base, other, rank := NULL)`. Their times add up to what the devices, or the
-- operators of the host, of both sides took.
-- One row: an outermost operator that did work on one side, or a device activity that belongs to
-- no operator.
--
-- side         base or other
-- run_id       the run
-- unit_id      `event_id` of the operator, or of the activity
-- name         operator, a generated kernel without the number of its graph; without an operator
--              the kernel, in a graph `(graph) <kernel>`; `generated code` for what calls of
--              compiled graphs took outside of operators on the host
-- short_name   as in `top_ops`; without an operator, the kernel
-- kernel       kernel that took longest of it; null on the host
-- class        compute, communication or copy, of that kernel; null on the host
-- start_ns     Unix time at which it, or its first activity, began, ns
-- ns           time of its activities on the device, or its own on the host, within the steps, ns
-- kernels      kernels among its activities; null on the host
-- launches     calls that launched them; the launch of a graph counts with its first kernel; null
--              on the host
-- module       classes of the nn.Modules around it, outermost first: `Flux/Block/Linear`
-- frame        innermost function of the user around it
-- place        the same without the file's directories: what two machines have in common
-- frame_order  its place in that call of the function
-- input_dims   shapes of its inputs
-- region_id    call of a compiled graph in which it was a kernel call, as in `compiled_calls`; null
--              where it was none, or torch's compile log does not tell
-- log_id       compile log that tells so, a `source_id`
-- compile_id   compilation of the graph
-- graph        number of the graph in it
-- ordinal      the kernel call in `compiled_kernels`
CREATE MACRO compared_units(base, other, rank := NULL) AS TABLE
    WITH
    activities AS MATERIALIZED (
        SELECT
            *,
            NOT in_graph OR row_number() OVER (
                PARTITION BY side, in_graph, if(in_graph, launch_id, event_id)
                ORDER BY NOT is_kernel, start_ns, event_id
            ) = 1 AS counts_launch
        FROM compared_activities(base, other, rank := rank)
    ),

    on_device AS (
        SELECT
            side,
            run_id,
            coalesce(top_op_id, event_id) AS unit_id,
            arg_max(name, (ns, name)) AS kernel,
            arg_max(class, (ns, class)) AS class,
            bool_or(in_graph) AS in_graph,
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

    on_host AS (
        SELECT
            measured.side,
            measured.run_id,
            top.event_id AS unit_id,
            top.start_ns,
            least(top.start_ns + top.dur_ns, measured.to_ns)
            - greatest(top.start_ns, measured.from_ns) AS ns
        FROM compared_windows(base, other, rank := rank) AS measured
        INNER JOIN top_ops AS top
            ON
                measured.run_id = top.run_id
                AND measured.source_id = top.source_id
                AND measured.to_ns >= top.start_ns
                AND measured.from_ns <= top.start_ns + top.dur_ns
        WHERE
            top.run_id IN (base, other)
            AND top.kind = 'operator'
            AND measured.measure = 'host'
            AND (
                top.dur_ns = 0
                OR least(top.start_ns + top.dur_ns, measured.to_ns)
                > greatest(top.start_ns, measured.from_ns)
            )
    ),

    -- What compiled graphs took outside of operators: generated code, where the profiler was not
    -- told to record its kernels.
    generated AS (
        SELECT
            measured.side,
            measured.run_id,
            op.event_id AS unit_id,
            'generated code' AS kernel,
            op.start_ns,
            op.self_ns AS ns
        FROM compared_windows(base, other, rank := rank) AS measured
        INNER JOIN ops AS op
            ON
                measured.run_id = op.run_id
                AND measured.source_id = op.source_id
                AND measured.to_ns >= op.start_ns
                AND measured.from_ns <= op.start_ns + op.dur_ns
        WHERE
            op.run_id IN (base, other)
            AND measured.measure = 'host'
            AND is_compiled_graph(op.name)
            AND op.self_ns > 0
    ),

    units AS (
        SELECT * FROM on_device
        UNION ALL BY NAME
        SELECT * FROM on_host
        UNION ALL BY NAME
        SELECT * FROM generated
    ),

    calls AS (
        SELECT
            run_id,
            coalesce(event_id, kernel_id) AS unit_id,
            region_id,
            log_id,
            compile_id,
            graph,
            ordinal
        FROM compiled_calls
        WHERE run_id IN (base, other)
    )

    SELECT
        units.side,
        units.run_id,
        units.unit_id,
        coalesce(
            generated_kernel(top.name),
            if(units.in_graph, '(graph) ', '') || units.kernel
        ) AS name,
        coalesce(top.short_name, units.kernel) AS short_name,
        units.kernel,
        units.class,
        units.start_ns,
        units.ns,
        units.kernels,
        units.launches,
        regexp_replace(
            regexp_replace(top.module, '_[0-9]+(/|$)', '\1', 'g'), '^OptimizedModule/?', ''
        ) AS module,
        top.frame,
        regexp_extract(top.frame, '[^/]*$') AS place,
        top.frame_order,
        top.input_dims,
        calls.region_id,
        calls.log_id,
        calls.compile_id,
        calls.graph,
        calls.ordinal
    FROM units
    LEFT JOIN top_ops AS top
        ON
            units.run_id = top.run_id
            AND units.unit_id = top.event_id
            AND top.run_id IN (base, other)
    LEFT JOIN calls ON units.run_id = calls.run_id AND units.unit_id = calls.unit_id;
