-- What differs between two runs besides the thing under test, and what makes their metrics
-- doubtful: `comparability(base, other)`. A condition that is not known of both runs is not
-- compared.
-- One row: a warning; none where nothing differs.
--
-- subject  code of what differs, as in `run_conditions`; or shapes
-- base     how it is in the first run; null where nothing is wrong there
-- other    how it is in the second
-- warning  a sentence
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

    -- Faults, and conditions that differ: `run.json` has precedence over the trace.
    told AS (
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
        FROM told
        UNION ALL
        FROM different_shapes
    ),

    -- In the order of the warnings.
    sentences AS (
        SELECT
            listed.subject,
            listed.sentence,
            if(listed.subject = 'unsteady steps', 'not so', 'none') AS missing,
            ordinal
        FROM unnest([
            {
                'subject': 'compiled while measured',
                'sentence': 'A model was compiled in the measured steps: {} in the first run, {} '
                || 'in the second.'
            },
            {
                'subject': 'damaged files',
                'sentence': 'Files could not be read whole: {} in the first run, {} in the second.'
            },
            {
                'subject': 'waited for compilation',
                'sentence': 'The device or the host waited for torch.compile: {} in the first '
                || 'run, {} in the second.'
            },
            {
                'subject': 'logic_version',
                'sentence': 'Different versions of tracehouse wrote the runs, {} and {}: metrics '
                || 'may differ by that alone. `ingest upgrade` builds runs again.'
            },
            { 'subject': 'model', 'sentence': 'The models differ: {} and {}.' },
            { 'subject': 'batch', 'sentence': 'The batches differ: {} and {} images a call.' },
            {
                'subject': 'shapes',
                'sentence': 'Inputs have other shapes: to operators that both have, {} of the '
                || 'first and {} of the second run have a counterpart of the same shape.'
            },
            {
                'subject': 'image size',
                'sentence': 'The images differ in size: {} and {} pixels.'
            },
            {
                'subject': 'sequence length',
                'sentence': 'The prompts differ in length: {} and {} tokens.'
            },
            {
                'subject': 'offload',
                'sentence': 'Parts of the model waited in the host''s memory: {} and {}.'
            },
            {
                'subject': 'dtype',
                'sentence': 'The operators compute in different types: {} and {}.'
            },
            { 'subject': 'device', 'sentence': 'The devices differ: {} and {}.' },
            {
                'subject': 'measure',
                'sentence': 'Only one of the runs has device activities: time of a {} stands '
                || 'against time of a {}.'
            },
            {
                'subject': 'world_size',
                'sentence': 'The jobs differ in size: {} and {} processes.'
            },
            {
                'subject': 'ranks',
                'sentence': 'The runs hold different numbers of ranks: {} and {}.'
            },
            {
                'subject': 'steps',
                'sentence': 'The metrics are of steps of different kinds or numbers: {}, and {}.'
            },
            {
                'subject': 'unsteady steps',
                'sentence': 'The median step may not be typical, as steps vary by more than 10 % '
                || 'or are fewer than three: {} in the first run, {} in the second.'
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
                'sentence': 'Python stacks, which slow the host, were {} and {}.'
            },
            {
                'subject': 'profiler: record_shapes',
                'sentence': 'Recording of shapes, which slows the host, was {} and {}.'
            },
            {
                'subject': 'profiler: profile_memory',
                'sentence': 'Recording of memory, which slows the host, was {} and {}.'
            },
            {
                'subject': 'profiler: with_flops',
                'sentence': 'Counting of FLOPs, which slows the host, was {} and {}.'
            },
            {
                'subject': 'profiler: with_modules',
                'sentence': 'Recording of modules, which slows the host, was {} and {}.'
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
