-- What torch.compile compiled, and compiled again, and why.
-- One row: a compilation of a rank, however many files know of it.
-- Start here: What was compiled, what again, and why?
-- Materialised: several relations read it.
--
-- run_id               the run
-- source_id            the file that knows most of it
-- rank                 rank of the process
-- compile_id           number of the frame, and of its compilation: `0/1`; null where a trace tells
--                      of a compilation but not which
-- compiled_frame       what was compiled: function, file and first line
-- is_recompile         whether the frame had been compiled before
-- start_ns             when it began, Unix time, ns; null where unknown
-- dur_ns               time spent, ns, each moment counted once; with that of a backward graph,
--                      which is compiled later; null where unknown
-- reason               why what had been compiled before did not do, in torch's words
-- cache                what Inductor's cache of graphs said: hit, miss, bypass, disabled
-- graph_ops            operations in its graphs
-- guards               conditions under which what was compiled may be used again
-- graph_breaks         graph breaks in it
-- restarts             times it began anew
-- fail_type            error that ended it
-- fail_reason          its message
-- stack                Python frames from which the frame was called, outermost first
-- is_in_measured_step  whether it fell into a step of the rank's traces, or of a trace without
--                      steps into what was recorded; null where that is unknown
-- evidence             who knows of it: log, else run_json, else trace
WITH
numbered AS (
    SELECT
        *,
        row_number() OVER () AS ordinal,
        list_position(['log', 'run_json', 'trace'], evidence) AS preference
    FROM known_compilations
),

-- A log holds no compilation twice: the same id in two is of two processes.
best AS MATERIALIZED (
    SELECT *
    FROM numbered
    QUALIFY compile_id IS NULL OR rank() OVER (
        PARTITION BY rank, compile_id
        ORDER BY
            preference,
            start_ns IS NULL AND evidence = 'trace',
            if(evidence = 'log', 0, source_id)
    ) = 1
),

times AS (
    SELECT ordinal, rank, unnest(times) AS span FROM best
),

met AS (
    SELECT
        times.ordinal,
        bool_or(
            times.span.start_ns < measured.end_ns AND times.span.end_ns > measured.start_ns
        ) AS is_in_measured_step
    FROM times
    INNER JOIN measured USING (rank)
    GROUP BY times.ordinal
),

-- Ranks whose traces show time of compilation in the measured steps.
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
        -- Where the trace shows no time of compilation, what is in use had been compiled before.
        WHEN best.evidence = 'trace' AND best.start_ns IS NULL
            THEN if(best.rank IN (FROM compiling), NULL, FALSE)
        ELSE met.is_in_measured_step
    END AS is_in_measured_step,
    best.evidence
FROM best
LEFT JOIN met ON best.ordinal = met.ordinal
WHERE best.compile_id IS NOT NULL OR NOT EXISTS (
    FROM known_compilations AS known, unnest(known.times) AS t (span)
    WHERE
        known.rank = best.rank
        AND known.evidence <> 'trace'
        AND t.span.start_ns < best.start_ns + best.dur_ns
        AND t.span.end_ns > best.start_ns
);
