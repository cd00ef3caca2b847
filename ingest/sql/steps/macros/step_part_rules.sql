-- The parts of a step in display order, with the rules that find the cause of idle time:
-- `step_part_rules(is_late, is_waiting, is_loading, is_compiling, is_dependent)`. Everything that
-- shows a part or a cause derives from this list.
--
-- The cause of an interval of idle time is the last part that `applies`, because each cause is more
-- specific than those before it. The arguments are the known facts about the interval. Without
-- arguments, the result is only the list.
--
-- Each remedy has the codes of features (`run_features`) that make it useless.
--
-- is_late       the activity that ended the interval was launched after the interval began; null if
--               unknown
-- is_waiting    the host was waiting for the device when the interval began
-- is_loading    a data loader filled at least half of the interval
-- is_compiling  torch.compile filled at least half of the interval; on a host, only torch.compile
--               ran
-- is_dependent  the activity that ended the interval follows another stream's activity or a
--               communication
CREATE MACRO step_part_rules(
    is_late := NULL::BOOLEAN,
    is_waiting := NULL::BOOLEAN,
    is_loading := NULL::BOOLEAN,
    is_compiling := NULL::BOOLEAN,
    is_dependent := NULL::BOOLEAN
) AS [
    {
        'part': 'host',
        'label': 'idle: host',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': TRUE,
        'text': 'The next activity was launched after the gap began, because the host was busy '
        || 'elsewhere.',
        'remedies': [
            { 'text': 'Compile the model.', 'unless': ['compiled'] },
            { 'text': 'Do less in Python between operators.', 'unless': [] },
            { 'text': 'Record CUDA graphs.', 'unless': ['graphs', 'host'] }
        ],
        'applies': is_late
    },
    {
        'part': 'sync',
        'label': 'idle: sync',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': TRUE,
        'text': 'When the gap began, the host was waiting for the device; only then did it launch '
        || 'the next activity.',
        'remedies': [
            { 'text': 'Copy from pinned memory with non_blocking=True.', 'unless': [] },
            { 'text': 'Read results (.item(), .cpu(), printing) less often.', 'unless': [] },
            { 'text': 'Synchronize only to measure.', 'unless': [] }
        ],
        'applies': is_late AND is_waiting
    },
    {
        'part': 'dataloader',
        'label': 'idle: dataloader',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': TRUE,
        'text': 'The next activity was launched after the gap began, because the host loaded '
        || 'data for at least half of the gap.',
        'remedies': [
            {
                'text': 'Load data in worker processes (DataLoader(num_workers=…)).',
                'unless': ['workers']
            },
            { 'text': 'Prefetch more batches, or do less work per sample.', 'unless': [] }
        ],
        'applies': is_late AND is_loading
    },
    {
        'part': 'compile',
        'label': 'idle: compile',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': TRUE,
        'text': 'The next activity was launched after the gap began, because the host compiled for '
        || 'at least half of the gap.',
        'remedies': [
            { 'text': 'Compile in a warm-up before profiling.', 'unless': [] },
            {
                'text': 'If a size changes, mark it with torch._dynamo.mark_dynamic, or pad to a '
                || 'fixed size.',
                'unless': []
            }
        ],
        'applies': is_late AND is_compiling
    },
    {
        'part': 'launch',
        'label': 'idle: launch',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': TRUE,
        'text': 'The next activity was launched in time; only the launch itself explains the gap.',
        'remedies': [
            { 'text': 'Record CUDA graphs.', 'unless': ['graphs'] },
            { 'text': 'Give each kernel more work.', 'unless': [] }
        ],
        'applies': NOT is_late
    },
    {
        'part': 'dependency',
        'label': 'idle: dependency',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': TRUE,
        'text': 'The next activity was launched in time, but it follows another stream''s '
        || 'activity or a communication.',
        'remedies': [
            {
                'text': 'Give the waiting stream work that does not depend on the other '
                || 'stream.',
                'unless': []
            },
            { 'text': 'Start the work of the other stream earlier.', 'unless': [] }
        ],
        'applies': NOT is_late AND is_dependent
    },
    {
        'part': 'unknown',
        'label': 'idle: unknown',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': TRUE,
        'text': 'The trace has no launch for the activity after the gap.',
        'remedies': [
            {
                'text': 'Profile the CPU together with the device, so that the trace has the '
                || 'launches.',
                'unless': []
            }
        ],
        'applies': is_late IS NULL
    },
    {
        'part': 'compute',
        'label': 'compute',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': FALSE,
        'text': 'Durations of compute kernels, or on a host of its outermost operators.',
        'remedies': [],
        'applies': FALSE
    },
    {
        'part': 'communication',
        'label': 'communication',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': FALSE,
        'text': 'Durations of communication kernels.',
        'remedies': [],
        'applies': FALSE
    },
    {
        'part': 'copy',
        'label': 'copy',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': FALSE,
        'text': 'Durations of copies and memsets.',
        'remedies': [],
        'applies': FALSE
    },
    {
        'part': 'compiled_code',
        'label': 'compiled code',
        'is_of_device': FALSE,
        'is_of_host': TRUE,
        'is_idle': FALSE,
        'text': 'Time in compiled graphs outside of operators: compiled code that is not '
        || 'recorded separately.',
        'remedies': [],
        'applies': FALSE
    },
    {
        'part': 'overlap',
        'label': 'overlap',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': FALSE,
        'text': 'Time that the other parts count more than once, as a negative number.',
        'remedies': [],
        'applies': FALSE
    },
    {
        'part': 'fill',
        'label': 'pipeline fill',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': NULL,
        'text': 'Idle time at the start of the first step. In a later step, the device would do '
        || 'the work of the step before. A step with this part is not compared with others.',
        'remedies': [],
        'applies': FALSE
    }
];
