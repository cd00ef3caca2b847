-- Part of `provenance_groups`: the operators of the user's program that compiled graphs executed,
-- call by call: `compiled_programs(work_items, base, other)`, with a table in the form of
-- `compared_work_items` and the two runs.
-- One row: an operator of the program with a known line, in a call of a compiled graph.
--
-- side
-- region_id        call of the compiled graph (`compiled_calls.region_id`)
-- start_ns         Unix time at which the call's first kernel began, ns
-- ordinal          position of the operator in the program
-- short_frame      function that called the operator, in the form of the work items; `torch` for
--                  functions of torch, which work items never have
-- op               name of the operator, in the form of `short_name` of the work items
-- kernel_ordinals  kernel calls that compute a part of the operator (`compiled_kernels.ordinal`)
-- work_item_id     work item under which the operator is counted
--                  (`compared_work_items.work_item_id`); null if there is none
CREATE MACRO compiled_programs(work_items, base, other) AS TABLE
    WITH
    calls AS MATERIALIZED (
        SELECT
            side,
            run_id,
            work_item_id,
            region_id,
            log_source_id,
            compile_id,
            graph_index,
            ordinal,
            min(start_ns) OVER (PARTITION BY side, region_id) AS start_ns
        FROM query_table(work_items)
        WHERE region_id IS NOT NULL
    ),

    regions AS (
        SELECT DISTINCT side, run_id, region_id, log_source_id, compile_id, graph_index, start_ns
        FROM calls
    ),

    programs AS MATERIALIZED (
        SELECT
            regions.side,
            regions.region_id,
            regions.start_ns,
            op.ordinal,
            op.filename,
            op.line,
            op.function,
            op.short_name,
            op.kernel_ordinal,
            op.kernel_ordinals
        FROM regions
        INNER JOIN compiled_ops AS op
            ON
                regions.run_id = op.run_id
                AND regions.log_source_id = op.source_id
                AND regions.compile_id = op.compile_id
                AND regions.graph_index = op.graph_index
        WHERE op.run_id IN (base, other)
    ),

    functions AS (
        SELECT DISTINCT
            short_frame,
            regexp_extract(short_frame, '^(.*)\([0-9]+\): ', 1) AS filename,
            try_cast(regexp_extract(short_frame, '\(([0-9]+)\): ', 1) AS INTEGER) AS first_line,
            regexp_extract(short_frame, '\([0-9]+\): (.*)$', 1) AS function
        FROM query_table(work_items)
        WHERE short_frame IS NOT NULL
    ),

    lines AS (
        SELECT DISTINCT filename, line, function FROM programs
    ),

    -- A line belongs to the last function of that name that begins before it.
    line_functions AS (
        SELECT
            lines.filename,
            lines.line,
            lines.function,
            if(
                contains(lines.filename, '/torch/'),
                'torch',
                coalesce(
                    arg_max(functions.short_frame, functions.first_line),
                    concat(regexp_extract(lines.filename, '[^/]*$'), ': ', lines.function)
                )
            ) AS short_frame
        FROM lines
        LEFT JOIN functions
            ON
                regexp_extract(lines.filename, '[^/]*$') = functions.filename
                AND lines.function = functions.function
                AND lines.line >= functions.first_line
        GROUP BY lines.filename, lines.line, lines.function
    )

    SELECT
        programs.side,
        programs.region_id,
        programs.start_ns,
        programs.ordinal,
        line_functions.short_frame,
        programs.short_name AS op,
        programs.kernel_ordinals,
        calls.work_item_id
    FROM programs
    INNER JOIN line_functions USING (filename, line, function)
    LEFT JOIN calls
        ON
            programs.side = calls.side
            AND programs.region_id = calls.region_id
            AND programs.kernel_ordinal = calls.ordinal;
