-- Part of `comparability`: the known conditions under which a run was profiled, and its faults,
-- which make its metrics doubtful. Whether and how a model was compiled is not a condition, because
-- that is often the thing under test.
-- One row: a condition of a run from one source of evidence, or a fault.
--
-- run_id
-- subject   code of the condition: model, batch, device, profiler: with_stack, …; or of the fault:
--           damaged files, compiled while measured, waited for compilation, or unsteady steps
--           (`is_steady` in `run_metrics` is false)
-- evidence  where the condition is recorded: run (`run.json` and table `runs`) or trace
-- is_fault  whether it is a fault
-- value     value of the condition; for a fault, the files, the extent of the compilation, or the
--           steps
WITH
of_runs AS (
    SELECT
        run_id,
        model,
        json_extract_string(run_json, '$.batch') AS batch,
        -- Older runs have `true` instead of `model` in `run.json`.
        nullif(replace(json_extract_string(run_json, '$.offload'), 'true', 'model'), 'false')
            AS offload,
        json_extract_string(run_json, '$.dtype') AS dtype,
        device_name AS device,
        world_size::VARCHAR AS world_size,
        framework,
        framework_version,
        coalesce(logic_version, 'unknown') AS logic_version,
        json_extract_string(run_json, '$.diffusers_version') AS diffusers_version,
        json_extract_string(run_json, '$.python_version') AS python_version,
        json_extract_string(run_json, '$.driver') AS driver,
        json_extract_string(run_json, '$.width')
        || ' × '
        || json_extract_string(run_json, '$.height')
            AS image_size,
        json_extract_string(run_json, '$.max_sequence_length') AS sequence_length
    FROM runs
),

traces AS (
    SELECT run_id, rank, conditions
    FROM sources
    WHERE complete_events IS NOT NULL
),

recorded AS (
    SELECT run_id, unnest(map_entries(conditions)) AS condition FROM traces
),

-- The later version counts, and `on` if the traces of a run differ.
of_traces AS (
    SELECT run_id, 'ranks' AS subject, count(DISTINCT rank)::VARCHAR AS value
    FROM traces
    GROUP BY run_id
    UNION ALL
    SELECT run_id, condition.key AS subject, max(condition.value) AS value
    FROM recorded
    GROUP BY run_id, condition.key
),

-- Steps of the lowest rank. The other ranks have the same kind of steps.
of_steps AS (
    SELECT
        run_id,
        any_value(measure ORDER BY metrics.rank) AS measure,
        any_value(
            if(
                steps_from = 'run',
                'the whole recording',
                format(
                    '{:,} step{} ({})',
                    steps,
                    if(steps = 1, '', 's'),
                    CASE steps_from
                        WHEN 'annotation' THEN 'annotation ' || step_name
                        WHEN 'module' THEN 'nn.Module'
                        ELSE steps_from
                    END
                )
            )
            ORDER BY metrics.rank
        ) AS steps,
        any_value(
            if(
                compared_steps < 3,
                format('{:,} step{}', compared_steps, if(compared_steps = 1, '', 's')),
                format(
                    '{} to {} in the middle half of {:,} steps',
                    duration_text(q1_wall_ns),
                    duration_text(q3_wall_ns),
                    compared_steps
                )
            )
        ) FILTER (WHERE is_default AND NOT is_steady) AS unsteady
    FROM run_metrics AS metrics
    GROUP BY run_id
),

-- A union instead of a join: with a join, DuckDB would read the files of all runs to answer a query
-- on one run.
stacked AS (
    SELECT run_id, compilations, recompiles, NULL AS wait_ns
    FROM run_overview
    WHERE compilations > 0
    UNION ALL
    SELECT run_id, NULL AS compilations, NULL AS recompiles, total_ns AS wait_ns
    FROM run_parts
    WHERE part = 'compile' AND total_ns > 0
),

of_compilation AS (
    SELECT
        run_id,
        max(compilations) AS compilations,
        max(recompiles) AS recompiles,
        max(wait_ns) AS wait_ns
    FROM stacked
    GROUP BY run_id
),

typed_calls AS (
    SELECT run_id, input_types, count(*) AS calls
    FROM ops
    WHERE category = 'cpu_op'
    GROUP BY run_id, input_types
),

inputs AS (
    SELECT run_id, unnest(from_json(input_types, '["VARCHAR"]')) AS type, calls
    FROM typed_calls
),

float_inputs AS (
    SELECT run_id, type, sum(calls) AS calls
    FROM inputs
    WHERE regexp_matches(type, '(?i)float|double|half')
    GROUP BY run_id, type
),

-- The most frequent floating-point type of the inputs.
of_inputs AS (
    SELECT
        run_id,
        CASE arg_max(type, calls)
            WHEN 'float' THEN 'float32'
            WHEN 'double' THEN 'float64'
            WHEN 'c10::Half' THEN 'float16'
            ELSE lower(replace(arg_max(type, calls), 'c10::', ''))
        END AS dtype
    FROM float_inputs
    GROUP BY run_id
)

SELECT run_id, subject, 'run' AS evidence, FALSE AS is_fault, value
FROM of_runs UNPIVOT (
    value FOR subject IN (
        model, batch, offload, dtype, device, world_size, framework, framework_version,
        logic_version, diffusers_version, python_version, driver,
        image_size AS 'image size', sequence_length AS 'sequence length' -- noqa: RF05
    )
)
UNION ALL
SELECT run_id, subject, 'trace' AS evidence, FALSE AS is_fault, value FROM of_traces
UNION ALL
SELECT run_id, subject, 'trace' AS evidence, subject = 'unsteady steps' AS is_fault, value
FROM of_steps UNPIVOT (
    value FOR subject IN (measure, steps, unsteady AS 'unsteady steps') -- noqa: RF05
)
UNION ALL
SELECT run_id, 'dtype' AS subject, 'trace' AS evidence, FALSE AS is_fault, dtype AS value
FROM of_inputs
UNION ALL
SELECT
    run_id,
    if(compilations > 0, 'compiled while measured', 'waited for compilation') AS subject,
    'trace' AS evidence,
    TRUE AS is_fault,
    if(
        compilations > 0,
        concat(compilations, ' (', recompiles, ' of them recompilations)'),
        duration_text(wait_ns)
    ) AS value
FROM of_compilation
UNION ALL
SELECT
    run_id,
    'damaged files' AS subject,
    'trace' AS evidence,
    TRUE AS is_fault,
    string_agg(concat(status, ': ', path), '; ' ORDER BY source_id) AS value
FROM sources
WHERE status IN ('truncated', 'failed')
GROUP BY run_id;
