-- The steps of a run. The metrics of a run are those of one step, so that runs of different lengths
-- can be compared.
-- One row: a step of an input file; for a run without steps, its whole recording.
-- Materialised: several relations read it.
--
-- The profiler's steps (`ProfilerStep#N`) take precedence. If there are none, repeated calls count
-- as steps: annotations of the same name, ignoring a number at the end, or else calls of an
-- outermost nn.Module. There must be at least two calls, no two of them may overlap, even on
-- different threads, and they must fill at least half of the time from the start of the first to
-- the end of the last. Of several candidates, the one with the most time is used. Markers of
-- benchmarks do not count. All files of a rank use the best kind of step that one of them has.
--
-- run_id, source_id, rank
-- step        number of the step: the profiler's number, or else counted from 0; null for a whole
--             recording
-- start_ns    Unix time at which the step began, ns
-- dur_ns      length of the step, ns
-- steps_from  ProfilerStep, annotation or module; `run` for a whole recording
-- step_name   name of the code that repeats: `ProfilerStep`, the annotation, or the module; null
--             for a whole recording
WITH
without_steps AS (
    SELECT source_id FROM staged_sources ANTI JOIN profiler_steps USING (source_id)
),

module_calls AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY lane
            ORDER BY nesting_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_ns
    FROM modules
    WHERE source_id IN (FROM without_steps)
),

calls AS (
    SELECT
        'annotation' AS steps_from,
        source_id,
        regexp_replace(name, '[ #_:.-]*[0-9]+$', '') AS name,
        start_ns,
        end_ns
    FROM complete
    WHERE
        category = 'user_annotation'
        AND NOT is_torch_label(name)
        AND NOT is_benchmark_marker(name)
        AND source_id IN (FROM without_steps)
    UNION ALL
    SELECT 'module' AS steps_from, source_id, name, start_ns, end_ns
    FROM module_calls
    WHERE reached_ns IS NULL OR start_ns >= reached_ns
),

ordered AS (
    SELECT
        *,
        coalesce(
            start_ns >= lag(end_ns) OVER (
                PARTITION BY steps_from, source_id, name ORDER BY start_ns, end_ns
            ),
            TRUE
        ) AS follows
    FROM calls
),

repeated AS (
    SELECT
        steps_from,
        source_id,
        name,
        row_number() OVER (
            PARTITION BY source_id ORDER BY steps_from, sum(end_ns - start_ns) DESC, min(start_ns)
        ) AS choice
    FROM ordered
    GROUP BY steps_from, source_id, name
    HAVING
        count(*) > 1
        AND bool_and(follows)
        AND 2 * sum(end_ns - start_ns) >= max(end_ns) - min(start_ns)
),

found AS (
    SELECT source_id, step, start_ns, dur_ns, 'ProfilerStep' AS steps_from, steps_from AS step_name
    FROM profiler_steps
    UNION ALL
    SELECT
        source_id,
        row_number() OVER (PARTITION BY source_id ORDER BY calls.start_ns) - 1 AS step,
        calls.start_ns,
        calls.end_ns - calls.start_ns AS dur_ns,
        steps_from,
        name AS step_name
    FROM repeated
    INNER JOIN calls USING (steps_from, source_id, name)
    WHERE repeated.choice = 1
    UNION ALL
    SELECT
        source_id,
        NULL AS step,
        start_ns,
        end_ns - start_ns AS dur_ns,
        'run' AS steps_from,
        NULL AS step_name
    FROM recordings
),

ranked AS (
    SELECT
        found.source_id,
        sources.rank,
        found.* EXCLUDE (source_id),
        list_position(['ProfilerStep', 'annotation', 'module', 'run'], found.steps_from) AS kind
    FROM found
    INNER JOIN staged_sources AS sources ON found.source_id = sources.source_id
)

SELECT * EXCLUDE (kind)
FROM ranked
QUALIFY kind = min(kind) OVER (PARTITION BY rank)
ORDER BY source_id, start_ns;
