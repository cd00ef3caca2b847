-- What torch.compile compiled and recompiled, and why.
-- One row: a compilation of a rank, even if several files report it.
-- Start here: What was compiled, what was recompiled, and why?
-- Materialised: several relations read it.
--
-- run_id
-- source_id            the file that reports it; if several do, the one with the most details
-- rank
-- ordinal              number of the compilation on its rank, in order of time, from 1
-- compile_id           number of the frame and of its compilation, for example `0/1`. The numbers
--                      begin again at 0/0 after `torch.compiler.reset()`. Null if a trace shows a
--                      compilation but not its number
-- compiled_frame       the compiled function: name, file and first line
-- is_recompile         whether the frame had been compiled before
-- start_ns             start, Unix time, ns; null if unknown
-- dur_ns               time spent, ns. Time in nested phases counts once. The time of a backward
--                      graph, which is compiled later, is included. Null if unknown
-- reason               why the code compiled earlier could not be reused, as torch states it
-- cache                results of Inductor's graph cache: hit, miss, bypass or disabled
-- graph_ops            number of operations in its graphs
-- guards               number of guards: the conditions under which the compiled code may be reused
-- graph_breaks         number of graph breaks
-- restarts             number of times that it restarted
-- fail_type            type of the error that ended it
-- fail_reason          message of the error that ended it
-- stack                Python frames at the call of the compiled function, outermost first
-- is_in_measured_step  whether it overlaps a step of the rank's traces, or the recording of a trace
--                      without steps; null if unknown
-- evidence             the best source that reports it: log, or else run_json, or else trace
WITH
numbered AS (
    SELECT
        *,
        row_number() OVER () AS ordinal,
        list_position(['log', 'run_json', 'trace'], evidence) AS preference
    FROM known_compilations
),

-- A log holds no compilation twice between two resets. The same id in two logs belongs to two
-- processes.
best AS MATERIALIZED (
    SELECT *
    FROM numbered
    QUALIFY compile_id IS NULL OR rank() OVER (
        PARTITION BY rank, compile_id, reset
        ORDER BY
            preference,
            start_ns IS NULL AND evidence = 'trace',
            if(evidence = 'log', 0, source_id)
    ) = 1
),

times AS (
    SELECT ordinal, rank, unnest(times) AS span FROM best
),

overlapped AS (
    SELECT
        times.ordinal,
        bool_or(
            times.span.start_ns < measured.end_ns AND times.span.end_ns > measured.start_ns
        ) AS is_in_measured_step
    FROM times
    INNER JOIN measured USING (rank)
    GROUP BY times.ordinal
),

-- Ranks whose traces show compile time in the measured steps.
compiling AS (
    SELECT DISTINCT phase.rank
    FROM complete AS phase
    INNER JOIN measured USING (rank)
    WHERE
        phase.category IN ('cpu_op', 'user_annotation')
        AND phase.name IN (SELECT name FROM call_names WHERE is_compilation(name))
        AND phase.start_ns < measured.end_ns
        AND phase.end_ns > measured.start_ns
)

SELECT
    best.source_id,
    best.rank,
    row_number() OVER (
        PARTITION BY best.rank
        ORDER BY best.start_ns NULLS FIRST, best.reset, best.compile_id, best.source_id
    ) AS ordinal,
    best.compile_id,
    frame_label(best.function, best.filename, best.line) AS compiled_frame,
    try_cast(split_part(best.compile_id, '/', -1) AS INTEGER) > 0 AS is_recompile,
    best.start_ns,
    best.dur_ns,
    best.reason,
    best.cache,
    best.graph_ops,
    best.guards,
    best.graph_breaks,
    best.restarts,
    best.fail_type,
    best.fail_reason,
    best.stack,
    CASE
        -- If the trace shows no compile time, the code in use was compiled before the trace.
        WHEN best.evidence = 'trace' AND best.start_ns IS NULL
            THEN if(best.rank IN (FROM compiling), NULL, FALSE)
        ELSE overlapped.is_in_measured_step
    END AS is_in_measured_step,
    best.evidence
FROM best
LEFT JOIN overlapped ON best.ordinal = overlapped.ordinal
WHERE best.compile_id IS NOT NULL OR NOT EXISTS (
    FROM known_compilations AS known, unnest(known.times) AS t (span)
    WHERE
        known.rank = best.rank
        AND known.evidence <> 'trace'
        AND t.span.start_ns < best.start_ns + best.dur_ns
        AND t.span.end_ns > best.start_ns
);
