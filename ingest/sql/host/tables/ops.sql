-- Host operators and annotations, with the device time that they launched.
-- One row: a cpu_op or user_annotation.
-- Materialised: several relations read it, and its file is written from it.
--
-- run_id, source_id, rank
-- event_id        the operator (`events.event_id`)
-- category        cpu_op or user_annotation
-- name            name of the operator or annotation
-- pid, tid
-- start_ns        start, Unix time, ns
-- dur_ns          duration on the host, ns
-- parent_op_id    the operator or annotation directly around it (`ops.event_id`); null if there is
--                 none
-- depth           number of operators and annotations around it
-- self_ns         time in which it was the innermost operator or annotation, ns
-- device_ns       sum of the durations of the device activities launched in it, ns; null without a
--                 device
-- self_device_ns  sum of the durations of the device activities for which it is the innermost
--                 cpu_op around the launch, ns; null without a device and for annotations
-- input_dims, input_types
-- input_strides   strides of the inputs, as recorded (JSON)
-- concrete_inputs
-- sequence        number that an operator shares with its backward
-- module          innermost nn.Module around it, named as in the Python frames
-- step            innermost step that contains its start (`steps.step`)
-- path_id         identifies it and its callers by name (`call_tree.path_id`)
WITH
innermost AS (
    SELECT op_id AS event_id, sum(dur_ns)::BIGINT AS dur_ns
    FROM kernels
    WHERE op_id IS NOT NULL
    GROUP BY op_id
),

op_modules AS (
    SELECT lane, from_ns, arg_max(name, nesting_order) AS module
    FROM overlapping('modules', 'op_moments')
    GROUP BY lane, from_ns
)

SELECT
    op.source_id,
    op.rank,
    op.event_id,
    op.category,
    op.name,
    op.pid,
    op.tid,
    op.start_ns,
    op.dur_ns,
    op_nest.parent_id AS parent_op_id,
    op_nest.depth,
    op_nest.self_ns,
    CASE WHEN devices.source_id IS NOT NULL THEN coalesce(launched.device_ns, 0) END AS device_ns,
    CASE
        WHEN devices.source_id IS NOT NULL AND op.category = 'cpu_op'
            THEN coalesce(innermost.dur_ns, 0)
    END AS self_device_ns,
    recorded.input_dims,
    recorded.input_types,
    recorded.input_strides,
    recorded.concrete_inputs,
    recorded.sequence,
    op_modules.module,
    nullif(host_nest.step, -1) AS step,
    host_nest.path_id
FROM complete AS op
LEFT JOIN staged_calls AS recorded ON op.event_id = recorded.event_id
INNER JOIN op_nest ON op.event_id = op_nest.event_id
LEFT JOIN innermost ON op.event_id = innermost.event_id
LEFT JOIN op_modules ON op.lane = op_modules.lane AND op.start_ns = op_modules.from_ns
LEFT JOIN (SELECT DISTINCT source_id FROM kernels) AS devices ON op.source_id = devices.source_id
LEFT JOIN call_device_time AS launched ON op.event_id = launched.event_id
LEFT JOIN host_nest ON op.event_id = host_nest.event_id
WHERE op.category IN ('cpu_op', 'user_annotation');
