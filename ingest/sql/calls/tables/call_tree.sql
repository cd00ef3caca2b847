-- What the host called, from the outermost frame inwards: Python frames, annotations, operators and
-- runtime functions, each in the calls around it.
-- One row: the calls of one name with the same shapes in the same calls, on a thread in a step.
--
-- run_id             the run
-- source_id          the input file
-- rank               rank of the process
-- pid                process
-- tid                thread
-- step               innermost step around the starts of the calls (`steps.step`); null outside of
--                    steps
-- path_id            stands for the names of the calls around it and its own; the same number in
--                    all runs; null for `[memory]` and `overhead`
-- caller_path_id     the call around it (`call_tree.path_id`); null for the outermost
-- module_id          innermost module around it, or itself (`module_tree.module_id`); null in none
-- depth              smallest number of events around such a call; null where `path_id` is
-- is_recursive       whether a call around it has the same name and category
-- category           cpu_op, user_annotation, python_function, cuda_runtime, cuda_driver; overhead
--                    of the profiler; `[memory]`: changes of memory during no call
-- name               name as torch's tables have it: `ProfilerStep*` for every step, operators
--                    without their overload
-- input_dims         shapes of an operator's inputs, as recorded (JSON); null where not recorded
-- calls              number of calls
-- total_ns           sum of their durations, ns
-- self_ns            the same without the calls directly inside, ns
-- device_ns          device time that the calls launched, ns; null without a device
-- self_device_ns     the same without the calls inside, ns; a runtime function has none, its caller
--                    has it
-- idle_ns            idle time of devices that the launched activities ended, ns; null without a
--                    device
-- self_idle_ns       the same without the calls inside, ns
-- cpu_bytes          change of allocated host memory during the calls, on any thread; null if
--                    memory was not recorded
-- self_cpu_bytes     the same without the calls inside
-- device_bytes       change of allocated device memory during the calls, on any thread; null if
--                    memory was not recorded
-- self_device_bytes  the same without the calls inside
-- flops              floating-point operations as torch counts them; null without shapes
-- repeated_calls     calls that contain exactly one call, of the same name; torch counts each such
--                    pair once and leaves the inner call out
-- repeated_ns            `total_ns` of these inner calls
-- repeated_device_ns     their `device_ns`
-- repeated_cpu_bytes     their `cpu_bytes`
-- repeated_device_bytes  their `device_bytes`
-- repeated_flops         their `flops`
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

places AS (
    SELECT
        lane,
        step,
        path_id,
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
    GROUP BY lane, step, path_id, name_number, input_dims
),

-- Apart from the others, for these are few.
measured AS (
    SELECT
        call.lane,
        call.step,
        call.path_id,
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
    GROUP BY call.lane, call.step, call.path_id, call.name_number, call_shapes.input_dims
),

whole AS (
    SELECT
        places.*,
        call_names.category,
        call_names.torch_name AS name,
        measured.* EXCLUDE (lane, step, path_id, name_number, input_dims)
    FROM places
    INNER JOIN call_names ON places.name_number = call_names.name_number
    LEFT JOIN measured
        ON
            places.lane = measured.lane
            AND places.step IS NOT DISTINCT FROM measured.step
            AND places.path_id = measured.path_id
            AND places.name_number = measured.name_number
            AND places.input_dims IS NOT DISTINCT FROM measured.input_dims
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
    whole.step,
    whole.path_id,
    nullif(whole.caller_path_id, 0) AS caller_path_id,
    nullif(whole.module_id, 0) AS module_id,
    whole.depth,
    coalesce(whole.is_recursive, FALSE) AS is_recursive,
    whole.category,
    whole.name,
    whole.input_dims,
    whole.calls,
    whole.total_ns,
    whole.self_ns,
    if(devices.source_id IS NOT NULL, coalesce(whole.device_ns, 0), NULL) AS device_ns,
    if(devices.source_id IS NOT NULL, coalesce(whole.self_device_ns, 0), NULL) AS self_device_ns,
    if(devices.source_id IS NOT NULL, coalesce(whole.idle_ns, 0), NULL) AS idle_ns,
    if(devices.source_id IS NOT NULL, coalesce(whole.self_idle_ns, 0), NULL) AS self_idle_ns,
    if(memories.source_id IS NOT NULL, coalesce(whole.cpu_bytes, 0), NULL) AS cpu_bytes,
    if(memories.source_id IS NOT NULL, coalesce(whole.self_cpu_bytes, 0), NULL) AS self_cpu_bytes,
    if(memories.source_id IS NOT NULL, coalesce(whole.device_bytes, 0), NULL) AS device_bytes,
    if(memories.source_id IS NOT NULL, coalesce(whole.self_device_bytes, 0), NULL)
        AS self_device_bytes,
    whole.flops,
    whole.repeated_calls,
    whole.repeated_ns,
    if(devices.source_id IS NOT NULL, coalesce(whole.repeated_device_ns, 0), NULL)
        AS repeated_device_ns,
    if(memories.source_id IS NOT NULL, coalesce(whole.repeated_cpu_bytes, 0), NULL)
        AS repeated_cpu_bytes,
    if(memories.source_id IS NOT NULL, coalesce(whole.repeated_device_bytes, 0), NULL)
        AS repeated_device_bytes,
    if(whole.flops IS NOT NULL, coalesce(whole.repeated_flops, 0), NULL) AS repeated_flops
FROM whole
INNER JOIN lanes ON whole.lane = lanes.lane
LEFT JOIN devices ON lanes.source_id = devices.source_id
LEFT JOIN memories ON lanes.source_id = memories.source_id;
