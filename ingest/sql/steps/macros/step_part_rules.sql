-- The parts of a step, in the order in which they are shown, and the rule that finds the cause of
-- idle time: `step_part_rules(is_late, is_waiting, is_loading, is_compiling, is_dependent)`. All
-- that shows a part or a cause follows from this list.
--
-- The cause of a stretch of idle time is the last part that `applies`: each cause is more specific
-- than those before it. The arguments say what is known of the stretch. Without them, the result is
-- the list alone.
--
-- is_late       the activity that ended it was launched after it began; null if that is unknown
-- is_waiting    the host was waiting for the device when it began
-- is_loading    a data loader filled at least half of it
-- is_compiling  torch.compile filled at least half of it; of a host, torch.compile alone ran
-- is_dependent  the activity that ended it follows another stream's activity or a communication
CREATE MACRO step_part_rules(
    is_late := NULL::BOOLEAN,
    is_waiting := NULL::BOOLEAN,
    is_loading := NULL::BOOLEAN,
    is_compiling := NULL::BOOLEAN,
    is_dependent := NULL::BOOLEAN
) AS [
    {
        'part': 'lead',
        'label': 'before the first activity',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': NULL,
        'text': 'Time before the first activity of the measured steps.',
        'remedy': NULL,
        'applies': FALSE
    },
    {
        'part': 'host',
        'label': 'idle: host',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': TRUE,
        'text': 'The launch came after the gap began: the host was busy elsewhere.',
        'remedy': 'Compile the model, do less in Python between the operators or, on a GPU, '
        || 'record CUDA graphs.',
        'applies': is_late
    },
    {
        'part': 'sync',
        'label': 'idle: sync',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': TRUE,
        'text': 'As host, but the host had been waiting for the device when the gap began.',
        'remedy': 'Copy from pinned memory with non_blocking=True; read results (.item(), '
        || '.cpu(), printing) less often; synchronize only to measure.',
        'applies': is_late AND is_waiting
    },
    {
        'part': 'dataloader',
        'label': 'idle: dataloader',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': TRUE,
        'text': 'As host; half of the gap or more went into loading data.',
        'remedy': 'Load in other processes (DataLoader(num_workers=…, '
        || 'persistent_workers=True)), fetch ahead, or do less to each sample.',
        'applies': is_late AND is_loading
    },
    {
        'part': 'compile',
        'label': 'idle: compile',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': TRUE,
        'text': 'As host; half of the gap or more went into compiling.',
        'remedy': 'Compile in a warm-up before the profile; where a size changes, mark it '
        || 'with torch._dynamo.mark_dynamic, or pad to one size.',
        'applies': is_late AND is_compiling
    },
    {
        'part': 'launch',
        'label': 'idle: launch',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': TRUE,
        'text': 'Launched in time, and nothing explains the gap but the launch itself.',
        'remedy': 'Record CUDA graphs, or give each kernel more work.',
        'applies': NOT is_late
    },
    {
        'part': 'dependency',
        'label': 'idle: dependency',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': TRUE,
        'text': 'Launched in time, but it followed another stream''s activity or a '
        || 'communication.',
        'remedy': 'Give the waiting stream work that does not depend on the other, or start '
        || 'that earlier.',
        'applies': NOT is_late AND is_dependent
    },
    {
        'part': 'unknown',
        'label': 'idle: unknown',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': TRUE,
        'text': 'The trace holds no launch for the activity after the gap.',
        'remedy': 'Profile the CPU and the device together, so that the trace holds the '
        || 'launches.',
        'applies': is_late IS NULL
    },
    {
        'part': 'compute',
        'label': 'compute',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': FALSE,
        'text': 'Durations of compute kernels; of a host, of its outermost operators.',
        'remedy': NULL,
        'applies': FALSE
    },
    {
        'part': 'communication',
        'label': 'communication',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': FALSE,
        'text': 'Durations of communication kernels.',
        'remedy': NULL,
        'applies': FALSE
    },
    {
        'part': 'copy',
        'label': 'copy',
        'is_of_device': TRUE,
        'is_of_host': FALSE,
        'is_idle': FALSE,
        'text': 'Durations of copies and sets.',
        'remedy': NULL,
        'applies': FALSE
    },
    {
        'part': 'compiled_code',
        'label': 'compiled code',
        'is_of_device': FALSE,
        'is_of_host': TRUE,
        'is_idle': FALSE,
        'text': 'Time in compiled graphs outside of operators: compiled code without a '
        || 'record of its own.',
        'remedy': NULL,
        'applies': FALSE
    },
    {
        'part': 'overlap',
        'label': 'overlap',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': FALSE,
        'text': 'Time counted more than once in the parts before, as a negative number.',
        'remedy': NULL,
        'applies': FALSE
    },
    {
        'part': 'tail',
        'label': 'after the last activity',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': NULL,
        'text': 'Time after their last activity.',
        'remedy': NULL,
        'applies': FALSE
    }
];
