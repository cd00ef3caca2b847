-- Differences and faults that make the metrics of two runs incomparable or doubtful, apart from the
-- thing under test: `comparability(base, other)`. A condition is compared only if it is known for
-- both runs.
-- One row: a warning. There are no rows if nothing differs.
--
-- subject  code of the condition or fault, as in `run_conditions`; or `shapes`
-- base     value in the first run; null if that run does not have the fault
-- other    value in the second run; null if that run does not have the fault
-- warning  the warning, as a sentence
CREATE MACRO comparability(base, other) AS TABLE
    WITH
    conditions AS (
        SELECT
            subject,
            evidence,
            is_fault,
            any_value(value) FILTER (WHERE run_id = base) AS base_value,
            any_value(value) FILTER (WHERE run_id = other) AS other_value
        FROM run_conditions
        WHERE run_id IN (base, other)
        GROUP BY subject, evidence, is_fault
    ),

    -- Faults, and conditions that differ. `run.json` takes precedence over the trace.
    different_conditions AS (
        SELECT
            subject,
            arg_min(base_value, evidence) AS base_value,
            arg_min(other_value, evidence) AS other_value
        FROM conditions
        WHERE is_fault OR base_value <> other_value
        GROUP BY subject
    ),

    shapes AS (
        SELECT
            any_value(percent) FILTER (WHERE run_id = base)::INTEGER AS base_percent,
            any_value(percent) FILTER (WHERE run_id = other)::INTEGER AS other_percent
        FROM shared_shapes(base, other)
    ),

    different_shapes AS (
        SELECT
            'shapes' AS subject,
            concat(base_percent, ' % of calls') AS base_value,
            concat(other_percent, ' % of calls') AS other_value
        FROM shapes
        WHERE least(base_percent, other_percent) < 50
    ),

    differences AS (
        FROM different_conditions
        UNION ALL
        FROM different_shapes
    ),

    -- The list is in the order of the warnings.
    sentences AS (
        SELECT
            listed.subject,
            listed.sentence,
            if(listed.subject = 'unsteady steps', 'steady', 'none') AS missing,
            ordinal
        FROM unnest([
            {
                'subject': 'compiled while measured',
                'sentence': 'A model was compiled during the measured steps. Compilations: {} in '
                || 'the first run, {} in the second.'
            },
            {
                'subject': 'damaged files',
                'sentence': 'Some files could not be read completely: {} in the first run, {} in '
                || 'the second.'
            },
            {
                'subject': 'waited for compilation',
                'sentence': 'The device or the host waited for torch.compile: {} in the first '
                || 'run, {} in the second.'
            },
            {
                'subject': 'logic_version',
                'sentence': 'Different versions of tracehouse wrote the runs, {} and {}. They may '
                || 'compute metrics differently. `ingest upgrade` rebuilds the runs.'
            },
            { 'subject': 'model', 'sentence': 'The models differ: {} and {}.' },
            {
                'subject': 'batch',
                'sentence': 'The batch sizes differ: {} and {} images per call.'
            },
            {
                'subject': 'shapes',
                'sentence': 'The input shapes differ. For operators of both runs, only {} in the '
                || 'first run and {} in the second have a counterpart with the same shapes.'
            },
            {
                'subject': 'image size',
                'sentence': 'The image sizes differ: {} and {} pixels.'
            },
            {
                'subject': 'sequence length',
                'sentence': 'The maximum prompt lengths differ: {} and {} tokens.'
            },
            {
                'subject': 'offload',
                'sentence': 'The modes of offloading the model to host memory differ: {} and {}.'
            },
            {
                'subject': 'dtype',
                'sentence': 'The data types of the operators differ: {} and {}.'
            },
            { 'subject': 'device', 'sentence': 'The devices differ: {} and {}.' },
            {
                'subject': 'measure',
                'sentence': 'Only one of the runs has device activities, so {} time is compared '
                || 'with {} time.'
            },
            {
                'subject': 'world_size',
                'sentence': 'The world sizes differ: {} and {} processes.'
            },
            {
                'subject': 'ranks',
                'sentence': 'The numbers of recorded ranks differ: {} and {}.'
            },
            {
                'subject': 'steps',
                'sentence': 'The kinds or numbers of measured steps differ: {}, and {}.'
            },
            {
                'subject': 'unsteady steps',
                'sentence': 'The median step may not be typical, because steps vary by more than '
                || '10 % or there are fewer than three: {} in the first run, {} in the second.'
            },
            { 'subject': 'framework', 'sentence': 'The frameworks differ: {} and {}.' },
            {
                'subject': 'framework_version',
                'sentence': 'The versions of the framework differ: {} and {}.'
            },
            {
                'subject': 'diffusers_version',
                'sentence': 'The versions of diffusers differ: {} and {}.'
            },
            {
                'subject': 'python_version',
                'sentence': 'The versions of Python differ: {} and {}.'
            },
            { 'subject': 'CUDA', 'sentence': 'The versions of CUDA differ: {} and {}.' },
            { 'subject': 'HIP', 'sentence': 'The versions of HIP differ: {} and {}.' },
            { 'subject': 'driver', 'sentence': 'The versions of the driver differ: {} and {}.' },
            { 'subject': 'NCCL', 'sentence': 'The versions of NCCL differ: {} and {}.' },
            {
                'subject': 'profiler: with_stack',
                'sentence': 'Recording of Python stacks, which slows the host, was {} in the first '
                || 'run and {} in the second.'
            },
            {
                'subject': 'profiler: record_shapes',
                'sentence': 'Recording of shapes, which slows the host, was {} in the first run '
                || 'and {} in the second.'
            },
            {
                'subject': 'profiler: profile_memory',
                'sentence': 'Recording of memory, which slows the host, was {} in the first run '
                || 'and {} in the second.'
            },
            {
                'subject': 'profiler: with_flops',
                'sentence': 'Counting of FLOPs, which slows the host, was {} in the first run and '
                || '{} in the second.'
            },
            {
                'subject': 'profiler: with_modules',
                'sentence': 'Recording of modules, which slows the host, was {} in the first run '
                || 'and {} in the second.'
            }
        ]) WITH ORDINALITY AS all_subjects (listed, ordinal)
    )

    SELECT
        difference.subject,
        difference.base_value AS base,
        difference.other_value AS other,
        format(
            sentences.sentence,
            coalesce(difference.base_value, sentences.missing),
            coalesce(difference.other_value, sentences.missing)
        ) AS warning
    FROM differences AS difference
    LEFT JOIN sentences ON difference.subject = sentences.subject
    ORDER BY sentences.ordinal;
