-- Allocations, each from the action that allocated it to the action that freed it. The memory curve
-- is the sum of these allocations.
-- One row: an allocation.
--
-- run_id, source_id, rank, device_id, device_type, device
-- allocation_id           number of the allocation, unique in the run
-- origin                  `traced`: the allocation was recorded. `before_trace`: only its free was
--                         recorded. `snapshot_only`: neither was recorded, but it was in use when
--                         the snapshot was taken
-- address                 address of the memory
-- bytes                   size, bytes: the requested size in a snapshot, the allocated size in a
--                         trace
-- alloc_ns
-- free_requested_ns       Unix time at which its free was requested, ns; null if it was not
-- free_ns, alloc_ordinal
-- free_requested_ordinal  action that requested its free (`memory_events.ordinal`); -1 if that was
--                         before the trace
-- free_ordinal
-- stream                  stream that it was allocated for
-- pool                    ids of its private pool; (0, 0) is the common pool
-- stack_id                stack that allocated it (`stacks.stack_id`)
-- free_stack_id           stack that freed it (`stacks.stack_id`)
-- category                purpose of the memory, if recorded
-- compile_context         compilation that the allocation belongs to, if recorded
-- op_id                   innermost cpu_op around the allocation (`ops.event_id`), if the run has a
--                         trace of the rank on the same clock
-- op                      name of the operator `op_id`
-- module                  innermost nn.Module around the allocation: from the trace if that names
--                         one, or else from the stack
-- step                    innermost step in which it was allocated (`memory_steps.step`)
WITH
-- Stream, pool, category and compile context come from the first recorded action of a life.
known AS (
    SELECT
        lives.*,
        actions.stream,
        actions.pool,
        actions.category,
        actions.compile_context
    FROM memory_actions AS actions
    INNER JOIN memory_lives AS lives ON actions.action_id = lives.action_id
    UNION ALL BY NAME
    SELECT
        lives.* REPLACE (
            id_in_run(
                devices.source_id,
                999_999_999_999 - row_number() OVER (
                    PARTITION BY devices.source_id ORDER BY lives.curve_id, lives.address
                )
            ) AS action_id
        ),
        segment.stream,
        segment.pool
    FROM memory_lives AS lives
    INNER JOIN memory_devices AS devices USING (curve_id)
    ASOF LEFT JOIN staged_segments AS segment
        ON
            devices.source_id = segment.source_id
            AND devices.device_label = segment.device_label
            AND lives.address >= segment.address
    WHERE lives.action_id IS NULL
)

SELECT
    devices.source_id,
    sources.rank,
    memory_device_id(sources.rank, devices.device_label) AS device_id,
    device_type_of(devices.device_label) AS device_type,
    device_of(devices.device_label) AS device,
    known.action_id AS allocation_id,
    CASE
        WHEN known.alloc_ordinal IS NOT NULL THEN 'traced'
        WHEN known.free_ordinal IS NOT NULL THEN 'before_trace'
        ELSE 'snapshot_only'
    END AS origin,
    known.address,
    known.bytes,
    known.alloc_ns,
    known.free_requested_ns,
    known.free_ns,
    known.alloc_ordinal,
    known.free_requested_ordinal,
    known.free_ordinal,
    known.stream,
    known.pool,
    known.stack_id,
    known.free_stack_id,
    known.category,
    known.compile_context,
    ops.op_id,
    ops.op,
    coalesce(ops.module, stack_labels.module) AS module,
    moment.step
FROM known
INNER JOIN memory_devices AS devices ON known.curve_id = devices.curve_id
INNER JOIN staged_sources AS sources ON devices.source_id = sources.source_id
LEFT JOIN timed_allocs AS timed ON known.action_id = timed.action_id
LEFT JOIN allocating_ops AS ops ON timed.lane = ops.lane AND timed.from_ns = ops.from_ns
LEFT JOIN stack_labels ON known.stack_id = stack_labels.stack_id
-- Positions in `memory_step_spans` are numbers of actions, not times.
ASOF LEFT JOIN step_moments('memory_step_spans') AS moment
    ON known.curve_id = moment.source_id AND known.alloc_ordinal >= moment.from_ns;
