-- The calls of the host as a tree, outermost frame first: Python frames, annotations, operators and
-- runtime functions, each under its caller.
-- One row: all calls with the same name, input shapes and callers, on one thread in one step, that
-- torch counts in the same call.
--
-- run_id, source_id, rank, pid, tid
-- step                   innermost step that contains the start of the calls (`steps.step`); null
--                        outside steps
-- path_id                identifies the call and its callers by name; the same number in all runs;
--                        null for `[memory]` and `overhead`
-- caller_path_id         the caller (`call_tree.path_id`); null for outermost calls
-- counted_path_id        the call that torch counts these calls in (`call_tree.path_id`): itself,
--                        or the outermost of calls that each contain exactly one call, which has
--                        the same name; null if `path_id` is null
-- module_id              innermost nn.Module around the call, or the call's own module
--                        (`module_tree.module_id`); null outside modules
-- depth                  smallest number of events around one of the calls; null if `path_id` is
--                        null
-- is_recursive           whether a caller has the same name and category
-- category               cpu_op, user_annotation, python_function, cuda_runtime or cuda_driver;
--                        `overhead` for overhead of the profiler; `[memory]` for memory changes
--                        outside all calls
-- name                   name as in torch's tables: `ProfilerStep*` for every step, and operators
--                        without their overload
-- input_dims             shapes of an operator's inputs, as recorded (JSON); null if not recorded
-- calls
-- total_ns               sum of the durations of the calls, ns
-- self_ns                `total_ns` without the calls directly inside, ns
-- device_ns              time of the device activities that the calls launched, ns; null without a
--                        device
-- self_device_ns         `device_ns` without the calls inside, ns; 0 for a runtime function,
--                        because the time counts in its caller
-- idle_ns                idle time of devices directly before the activities that the calls
--                        launched, ns; null without a device
-- self_idle_ns           `idle_ns` without the calls inside, ns
-- cpu_bytes              change of allocated host memory during the calls, on any thread, bytes;
--                        null if memory was not recorded
-- self_cpu_bytes         `cpu_bytes` without the calls inside
-- device_bytes           change of allocated device memory during the calls, on any thread, bytes;
--                        null if memory was not recorded
-- self_device_bytes      `device_bytes` without the calls inside
-- flops
-- repeated_calls         calls that contain exactly one call, which has the same name; torch counts
--                        such a pair once and leaves out the inner call
-- repeated_ns            `total_ns` of the inner calls of `repeated_calls`
-- repeated_device_ns     `device_ns` of the inner calls of `repeated_calls`
-- repeated_cpu_bytes     `cpu_bytes` of the inner calls of `repeated_calls`
-- repeated_device_bytes  `device_bytes` of the inner calls of `repeated_calls`
-- repeated_flops         `flops` of the inner calls of `repeated_calls`
WITH
devices AS (SELECT DISTINCT source_id FROM kernels),

memories AS (SELECT DISTINCT source_id FROM traced_changes),

lanes AS (
    SELECT
        lane,
        any_value(source_id) AS source_id,
        any_value(rank) AS rank,
        any_value(pid) AS pid,
        any_value(tid) AS tid
    FROM complete
    GROUP BY lane
    UNION ALL
    SELECT
        hash('memory', source_id) AS lane, source_id, rank, NULL AS pid, NULL AS tid
    FROM staged_sources
),

positions AS (
    SELECT
        lane,
        step,
        path_id,
        coalesce(counted_path_id, path_id) AS counted_path_id,
        name_number,
        input_dims,
        any_value(caller_path_id) AS caller_path_id,
        any_value(module_id) AS module_id,
        any_value(is_recursive) AS is_recursive,
        min(depth) AS depth,
        count(*) AS calls,
        sum(dur_ns)::BIGINT AS total_ns,
        sum(dur_ns - inner_ns)::BIGINT AS self_ns,
        count(*) FILTER (WHERE repeats) AS repeated_calls,
        coalesce(sum(inner_ns) FILTER (WHERE repeats), 0)::BIGINT AS repeated_ns
    FROM placed_calls
    LEFT JOIN call_shapes USING (event_id)
    LEFT JOIN inner_repeats USING (event_id)
    GROUP BY lane, step, path_id, counted_path_id, name_number, input_dims
),

-- Joined later, because few calls have measures.
measured AS (
    SELECT
        call.lane,
        call.step,
        call.path_id,
        coalesce(inner_repeats.counted_path_id, call.path_id) AS counted_path_id,
        call.name_number,
        call_shapes.input_dims,
        sum(measure.device_ns)::BIGINT AS device_ns,
        sum(measure.device_ns - measure.inner_device_ns)::BIGINT AS self_device_ns,
        sum(measure.inner_device_ns) FILTER (WHERE call.repeats)::BIGINT AS repeated_device_ns,
        sum(measure.idle_ns)::BIGINT AS idle_ns,
        sum(measure.idle_ns - measure.inner_idle_ns)::BIGINT AS self_idle_ns,
        sum(measure.cpu_bytes)::BIGINT AS cpu_bytes,
        sum(measure.cpu_bytes - measure.inner_cpu_bytes)::BIGINT AS self_cpu_bytes,
        sum(measure.inner_cpu_bytes) FILTER (WHERE call.repeats)::BIGINT AS repeated_cpu_bytes,
        sum(measure.device_bytes)::BIGINT AS device_bytes,
        sum(measure.device_bytes - measure.inner_device_bytes)::BIGINT AS self_device_bytes,
        sum(measure.inner_device_bytes) FILTER (WHERE call.repeats)::BIGINT
            AS repeated_device_bytes,
        sum(measure.flops)::BIGINT AS flops,
        sum(measure.inner_flops) FILTER (WHERE call.repeats)::BIGINT AS repeated_flops
    FROM placed_calls AS call
    INNER JOIN call_measures AS measure ON call.event_id = measure.event_id
    LEFT JOIN call_shapes ON call.event_id = call_shapes.event_id
    LEFT JOIN inner_repeats ON call.event_id = inner_repeats.event_id
    GROUP BY
        call.lane,
        call.step,
        call.path_id,
        inner_repeats.counted_path_id,
        call.name_number,
        call_shapes.input_dims
),

joined AS (
    SELECT
        positions.*,
        call_names.category,
        call_names.torch_name AS name,
        measured.* EXCLUDE (lane, step, path_id, counted_path_id, name_number, input_dims)
    FROM positions
    INNER JOIN call_names ON positions.name_number = call_names.name_number
    LEFT JOIN measured
        ON
            positions.lane = measured.lane
            AND positions.step IS NOT DISTINCT FROM measured.step
            AND positions.path_id = measured.path_id
            AND positions.counted_path_id = measured.counted_path_id
            AND positions.name_number = measured.name_number
            AND positions.input_dims IS NOT DISTINCT FROM measured.input_dims
    UNION ALL BY NAME
    SELECT
        hash('memory', source_id) AS lane,
        step,
        '[memory]' AS category,
        '[memory]' AS name,
        calls,
        0 AS total_ns,
        0 AS self_ns,
        cpu_bytes,
        cpu_bytes AS self_cpu_bytes,
        device_bytes,
        device_bytes AS self_device_bytes,
        0 AS repeated_calls,
        0 AS repeated_ns
    FROM uncalled_memory
    UNION ALL BY NAME
    SELECT
        complete.lane,
        other_steps.step,
        'overhead' AS category,
        complete.name,
        count(*) AS calls,
        sum(complete.dur_ns)::BIGINT AS total_ns,
        sum(complete.dur_ns)::BIGINT AS self_ns,
        0 AS repeated_calls,
        0 AS repeated_ns
    FROM complete
    LEFT JOIN other_steps ON complete.event_id = other_steps.event_id
    WHERE complete.category = 'overhead'
    GROUP BY complete.lane, other_steps.step, complete.name
)

SELECT
    lanes.source_id,
    lanes.rank,
    lanes.pid,
    lanes.tid,
    joined.step,
    joined.path_id,
    nullif(joined.caller_path_id, 0) AS caller_path_id,
    joined.counted_path_id,
    nullif(joined.module_id, 0) AS module_id,
    joined.depth,
    coalesce(joined.is_recursive, FALSE) AS is_recursive,
    joined.category,
    joined.name,
    joined.input_dims,
    joined.calls,
    joined.total_ns,
    joined.self_ns,
    if(devices.source_id IS NOT NULL, coalesce(joined.device_ns, 0), NULL) AS device_ns,
    if(devices.source_id IS NOT NULL, coalesce(joined.self_device_ns, 0), NULL) AS self_device_ns,
    if(devices.source_id IS NOT NULL, coalesce(joined.idle_ns, 0), NULL) AS idle_ns,
    if(devices.source_id IS NOT NULL, coalesce(joined.self_idle_ns, 0), NULL) AS self_idle_ns,
    if(memories.source_id IS NOT NULL, coalesce(joined.cpu_bytes, 0), NULL) AS cpu_bytes,
    if(memories.source_id IS NOT NULL, coalesce(joined.self_cpu_bytes, 0), NULL) AS self_cpu_bytes,
    if(memories.source_id IS NOT NULL, coalesce(joined.device_bytes, 0), NULL) AS device_bytes,
    if(memories.source_id IS NOT NULL, coalesce(joined.self_device_bytes, 0), NULL)
        AS self_device_bytes,
    joined.flops,
    joined.repeated_calls,
    joined.repeated_ns,
    if(devices.source_id IS NOT NULL, coalesce(joined.repeated_device_ns, 0), NULL)
        AS repeated_device_ns,
    if(memories.source_id IS NOT NULL, coalesce(joined.repeated_cpu_bytes, 0), NULL)
        AS repeated_cpu_bytes,
    if(memories.source_id IS NOT NULL, coalesce(joined.repeated_device_bytes, 0), NULL)
        AS repeated_device_bytes,
    if(joined.flops IS NOT NULL, coalesce(joined.repeated_flops, 0), NULL) AS repeated_flops
FROM joined
INNER JOIN lanes ON joined.lane = lanes.lane
LEFT JOIN devices ON lanes.source_id = devices.source_id
LEFT JOIN memories ON lanes.source_id = memories.source_id;
