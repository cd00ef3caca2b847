-- What differs between two runs besides the thing under test, and what spoils their figures:
-- `comparability(base, other)`. What is not known of both runs is not compared. Whether a model was
-- compiled, and how, is what is tested.
-- One row: a warning; none where nothing differs.
--
-- subject  what differs, or is wrong
-- base     how it is in the first run; null where nothing is wrong there
-- other    how it is in the second
-- warning  a sentence
CREATE MACRO comparability(base, other) AS TABLE
    WITH
    traces AS (
        SELECT
            run_id,
            count(*) AS traces,
            bool_or(coalesce(json_extract_string(meta, '$.record_shapes'), '0') = '1') AS shapes,
            bool_or(coalesce(json_extract_string(meta, '$.with_stack'), '0') = '1') AS stacks,
            bool_or(coalesce(json_extract_string(meta, '$.profile_memory'), '0') = '1') AS memory,
            bool_or(coalesce(json_extract_string(meta, '$.with_flops'), '0') = '1') AS flops,
            bool_or(coalesce(json_extract_string(meta, '$.with_modules'), '0') = '1') AS modules,
            max(json_extract_string(meta, '$.cuda_runtime_version')) AS cuda,
            max(json_extract_string(meta, '$.hip_runtime_version')) AS hip,
            max(json_extract_string(meta, '$.cuda_driver_version')) AS driver,
            max(json_extract_string(meta, '$.distributedInfo.nccl_version')) AS nccl
        FROM sources
        WHERE run_id IN (base, other) AND complete IS NOT NULL
        GROUP BY run_id
    ),

    -- The type of input that most operators have.
    types AS (
        SELECT run_id, unnest(from_json(input_types, '["VARCHAR"]')) AS type, calls
        FROM (
            SELECT run_id, input_types, count(*) AS calls
            FROM ops
            WHERE run_id IN (base, other) AND category = 'cpu_op'
            GROUP BY run_id, input_types
        )
    ),

    floats AS (
        SELECT run_id, arg_max(type, calls) AS type
        FROM (
            SELECT run_id, type, sum(calls) AS calls
            FROM types
            WHERE regexp_matches(type, '(?i)float|double|half')
            GROUP BY run_id, type
        )
        GROUP BY run_id
    ),

    measured AS (
        SELECT
            run_id,
            any_value(measure ORDER BY figures.rank) AS measure,
            any_value(steps ORDER BY figures.rank) AS steps,
            any_value(steps_from ORDER BY figures.rank) AS steps_from,
            any_value(step_name ORDER BY figures.rank) AS step_name,
            sum(compilations) AS compilations,
            sum(recompiles) AS recompiles
        FROM run_totals AS figures
        WHERE run_id IN (base, other)
        GROUP BY run_id
    ),

    waits AS (
        SELECT run_id, max(total_ns) AS waited_ns
        FROM run_parts
        WHERE run_id IN (base, other) AND part = 'compile' AND total_ns > 0
        GROUP BY run_id
    ),

    facts AS (
        SELECT
            runs.run_id,
            unnest([
                { 'subject': 'model', 'value': runs.model },
                { 'subject': 'batch', 'value': json_extract_string(runs.meta, '$.batch') },
                {
                    'subject': 'image size',
                    'value': json_extract_string(runs.meta, '$.width')
                    || ' × ' || json_extract_string(runs.meta, '$.height')
                },
                {
                    'subject': 'sequence length',
                    'value': json_extract_string(runs.meta, '$.max_sequence_length')
                },
                { 'subject': 'offload', 'value': json_extract_string(runs.meta, '$.offload') },
                { 'subject': 'dtype', 'value': json_extract_string(runs.meta, '$.dtype') },
                {
                    'subject': 'dtype',
                    'value': CASE floats.type
                        WHEN 'float' THEN 'float32'
                        WHEN 'double' THEN 'float64'
                        WHEN 'c10::Half' THEN 'float16'
                        ELSE lower(replace(floats.type, 'c10::', ''))
                    END
                },
                { 'subject': 'device', 'value': runs.device_name },
                { 'subject': 'measure', 'value': measured.measure },
                { 'subject': 'world_size', 'value': runs.world_size::VARCHAR },
                { 'subject': 'ranks', 'value': overview.ranks::VARCHAR },
                {
                    'subject': 'steps',
                    'value': CASE measured.steps_from
                        WHEN 'run' THEN 'the whole recording'
                        WHEN 'annotation'
                            THEN concat(measured.steps, ' of annotation ', measured.step_name)
                        WHEN 'module' THEN concat(measured.steps, ' of an nn.Module')
                        ELSE concat(measured.steps, ' of ', measured.steps_from)
                    END
                },
                { 'subject': 'framework', 'value': runs.framework },
                { 'subject': 'framework_version', 'value': runs.framework_version },
                {
                    'subject': 'diffusers_version',
                    'value': json_extract_string(runs.meta, '$.diffusers_version')
                },
                {
                    'subject': 'python_version',
                    'value': json_extract_string(runs.meta, '$.python_version')
                },
                { 'subject': 'CUDA', 'value': traces.cuda },
                { 'subject': 'HIP', 'value': traces.hip },
                { 'subject': 'driver', 'value': json_extract_string(runs.meta, '$.driver') },
                { 'subject': 'driver', 'value': traces.driver },
                { 'subject': 'NCCL', 'value': traces.nccl },
                { 'subject': 'profiler: with_stack', 'value': if(traces.stacks, 'on', 'off') },
                { 'subject': 'profiler: record_shapes', 'value': if(traces.shapes, 'on', 'off') },
                { 'subject': 'profiler: profile_memory', 'value': if(traces.memory, 'on', 'off') },
                { 'subject': 'profiler: with_flops', 'value': if(traces.flops, 'on', 'off') },
                { 'subject': 'profiler: with_modules', 'value': if(traces.modules, 'on', 'off') }
            ]) AS fact,
            unnest(range(1, 27)) AS position
        FROM runs
        INNER JOIN run_overview AS overview ON runs.run_id = overview.run_id
        LEFT JOIN traces ON runs.run_id = traces.run_id
        LEFT JOIN floats ON runs.run_id = floats.run_id
        LEFT JOIN measured ON runs.run_id = measured.run_id
        WHERE runs.run_id IN (base, other) AND overview.run_id IN (base, other)
    ),

    -- Shapes of the operators that both runs recorded with shapes, and how many calls they had.
    shapes AS (
        SELECT run_id, name, input_dims, count(*) AS calls
        FROM ops
        WHERE
            run_id IN (base, other)
            AND category = 'cpu_op'
            AND input_dims LIKE '%[%[%'
        GROUP BY run_id, name, input_dims
    ),

    met AS (
        SELECT
            run_id,
            calls,
            count(*) OVER (PARTITION BY name, input_dims) = 2 AS same,
            min(run_id) OVER (PARTITION BY name) < max(run_id) OVER (PARTITION BY name) AS common
        FROM shapes
    ),

    alike AS (
        SELECT
            run_id,
            (100 * sum(if(same, calls, 0)) / sum(calls))::INTEGER AS percent
        FROM met
        WHERE common
        GROUP BY run_id
    ),

    spoilt AS (
        SELECT
            run_id,
            'damaged files' AS subject,
            string_agg(concat(status, ': ', path), '; ' ORDER BY source_id) AS value
        FROM sources
        WHERE run_id IN (base, other) AND status IN ('truncated', 'failed')
        GROUP BY run_id
        UNION ALL
        SELECT
            run_id,
            if(recompiles > 0, 'recompiled while measured', 'compiled while measured') AS subject,
            concat(compilations, ', ', recompiles, ' of them again') AS value
        FROM measured
        WHERE compilations > 0
        UNION ALL
        SELECT
            measured.run_id,
            'waited for compilation' AS subject,
            concat(round(waits.waited_ns / 1e6, 1), ' ms') AS value
        FROM measured
        INNER JOIN waits ON measured.run_id = waits.run_id
        WHERE coalesce(measured.compilations, 0) = 0
    ),

    pairs AS (
        SELECT
            base_fact.fact.subject,
            base_fact.fact.value AS base_value,
            other_fact.fact.value AS other_value,
            base_fact.position
        FROM facts AS base_fact
        INNER JOIN facts AS other_fact ON base_fact.position = other_fact.position
        WHERE
            base_fact.run_id = base
            AND other_fact.run_id = other
            AND base_fact.fact.value <> other_fact.fact.value
        UNION ALL
        SELECT
            'shapes' AS subject,
            concat(base_alike.percent, ' % of calls') AS base_value,
            concat(other_alike.percent, ' % of calls') AS other_value,
            2.5 AS position
        FROM alike AS base_alike
        CROSS JOIN alike AS other_alike
        WHERE
            base_alike.run_id = base
            AND other_alike.run_id = other
            AND least(base_alike.percent, other_alike.percent) < 50
        UNION ALL
        SELECT
            subject,
            any_value(value) FILTER (WHERE run_id = base) AS base_value,
            any_value(value) FILTER (WHERE run_id = other) AS other_value,
            0 AS position
        FROM spoilt
        GROUP BY subject
    ),

    sentences (subject, sentence) AS (
        VALUES
        ('model', 'The models differ: {} and {}.'),
        ('batch', 'The batches differ: {} and {} images a call.'),
        ('image size', 'The images differ in size: {} and {} pixels.'),
        ('sequence length', 'The prompts differ in length: {} and {} tokens.'),
        (
            'shapes',
            'Inputs have other shapes: to operators that both have, {} of the first and {} of'
            || ' the second run have a counterpart of the same shape.'
        ),
        ('offload', 'Parts of the model waited in the host''s memory: {} and {}.'),
        ('dtype', 'The operators compute in different types: {} and {}.'),
        ('device', 'The devices differ: {} and {}.'),
        (
            'measure',
            'Only one of the runs has device activities: time of a {} stands against time'
            || ' of a {}.'
        ),
        ('world_size', 'The jobs differ in size: {} and {} processes.'),
        ('ranks', 'The runs hold different numbers of ranks: {} and {}.'),
        ('steps', 'The figures are per step of different kinds or numbers: {}, and {}.'),
        ('profiler: with_stack', 'Python stacks, which slow the host, were {} and {}.'),
        ('profiler: record_shapes', 'Recording of shapes, which slows the host, was {} and {}.'),
        ('profiler: profile_memory', 'Recording of memory, which slows the host, was {} and {}.'),
        ('profiler: with_flops', 'Counting of FLOPs, which slows the host, was {} and {}.'),
        ('profiler: with_modules', 'Recording of modules, which slows the host, was {} and {}.'),
        ('damaged files', 'Files could not be read whole: {} in the first run, {} in the second.'),
        (
            'compiled while measured', 'A model was compiled in the measured steps: {} in the first'
            || ' run, {} in the second.'
        ),
        (
            'recompiled while measured',
            'A model was compiled again in the measured steps: {} in the'
            || ' first run, {} in the second.'
        ),
        (
            'waited for compilation',
            'The device or the host waited for torch.compile: {} in the first'
            || ' run, {} in the second.'
        )
    ),

    first_of_subject AS (
        SELECT *
        FROM pairs
        QUALIFY row_number() OVER (PARTITION BY subject ORDER BY position) = 1
    )

    SELECT
        pair.subject,
        pair.base_value AS base,
        pair.other_value AS other,
        format(
            coalesce(
                sentences.sentence, concat('The versions of ', pair.subject, ' differ: {} and {}.')
            ),
            coalesce(pair.base_value, 'nothing'),
            coalesce(pair.other_value, 'nothing')
        ) AS warning
    FROM first_of_subject AS pair
    LEFT JOIN sentences ON pair.subject = sentences.subject
    ORDER BY pair.position, pair.subject;
