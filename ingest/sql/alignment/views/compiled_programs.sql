-- What compiled graphs executed of the user's program, call by call:
-- `compiled_programs(units, base, other)`, of a table like `compared_units` and its two runs.
-- One row: an operator of the program, of a known line, in a call of a compiled graph.
--
-- side             base or other
-- region_id        the call of the graph
-- start_ns         Unix time at which the call's first kernel began, ns
-- position         place of the operator in the program
-- place            function that called it, as of the units; `torch` where that is torch's own, in
--                  which no unit is placed
-- op               operator, as `short_name` of the units
-- kernel_ordinals  kernel calls that compute a part of it
-- unit_id          the one under which it is counted; null where there is none
CREATE MACRO compiled_programs(units, base, other) AS TABLE
    WITH
    calls AS MATERIALIZED (
        SELECT
            side,
            run_id,
            unit_id,
            region_id,
            log_id,
            compile_id,
            graph,
            ordinal,
            min(start_ns) OVER (PARTITION BY side, region_id) AS start_ns
        FROM query_table(units)
        WHERE region_id IS NOT NULL
    ),

    regions AS (
        SELECT DISTINCT side, run_id, region_id, log_id, compile_id, graph, start_ns FROM calls
    ),

    programs AS MATERIALIZED (
        SELECT
            regions.side,
            regions.region_id,
            regions.start_ns,
            op.position,
            op.file,
            op.line,
            op.function,
            op.short_name,
            op.kernel_ordinal,
            op.kernel_ordinals
        FROM regions
        INNER JOIN compiled_ops AS op
            ON
                regions.run_id = op.run_id
                AND regions.log_id = op.source_id
                AND regions.compile_id = op.compile_id
                AND regions.graph = op.graph
        WHERE op.run_id IN (base, other)
    ),

    functions AS (
        SELECT DISTINCT
            place,
            regexp_extract(place, '^(.*)\([0-9]+\): ', 1) AS file,
            try_cast(regexp_extract(place, '\(([0-9]+)\): ', 1) AS INTEGER) AS first_line,
            regexp_extract(place, '\([0-9]+\): (.*)$', 1) AS function
        FROM query_table(units)
        WHERE place IS NOT NULL
    ),

    lines AS (
        SELECT DISTINCT file, line, function FROM programs
    ),

    -- A line belongs to the function of that name that begins last before it.
    line_places AS (
        SELECT
            lines.file,
            lines.line,
            lines.function,
            if(
                contains(lines.file, '/torch/'),
                'torch',
                coalesce(
                    arg_max(functions.place, functions.first_line),
                    concat(regexp_extract(lines.file, '[^/]*$'), ': ', lines.function)
                )
            ) AS place
        FROM lines
        LEFT JOIN functions
            ON
                regexp_extract(lines.file, '[^/]*$') = functions.file
                AND lines.function = functions.function
                AND lines.line >= functions.first_line
        GROUP BY lines.file, lines.line, lines.function
    )

    SELECT
        programs.side,
        programs.region_id,
        programs.start_ns,
        programs.position,
        line_places.place,
        programs.short_name AS op,
        programs.kernel_ordinals,
        calls.unit_id
    FROM programs
    INNER JOIN line_places
        ON
            programs.file = line_places.file
            AND programs.line = line_places.line
            AND programs.function = line_places.function
    LEFT JOIN calls
        ON
            programs.side = calls.side
            AND programs.region_id = calls.region_id
            AND programs.kernel_ordinal = calls.ordinal;
