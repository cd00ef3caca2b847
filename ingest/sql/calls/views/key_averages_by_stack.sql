-- The table of torch.profiler's `key_averages(group_by_stack_n=n)`, for each step, with the Python
-- frames of the trace: `key_averages_by_stack(run, n)`. torch's own stacks are empty unless the
-- profiler was made `verbose`.
-- One row: what was called under one name from the same innermost frames in a step of a rank.
--
-- rank           rank of the process
-- step           innermost step around their starts; null outside of steps
-- name           name, as in `key_averages`
-- stack          the innermost frames around it, at most `n`, innermost first
-- is_on_device   whether it ran on a device: a row of its own, without a stack
-- is_annotation  whether it is an annotation, such as of `record_function`
-- calls          number of calls
-- cpu_total_ns   sum of their durations on the host, ns
-- cpu_self_ns    of that, outside of calls inside, ns
-- device_total_ns  durations of what was launched in the calls, ns; null without a device
-- device_self_ns   of that, launched outside of calls inside, ns
-- cpu_memory_bytes          what the calls added to the host's memory in use; null where memory was
--                           not recorded
-- self_cpu_memory_bytes     of that, outside of calls inside
-- device_memory_bytes       what the calls added to the memory in use of devices; null as
--                           `cpu_memory_bytes`
-- self_device_memory_bytes  of that, outside of calls inside
-- flops          floating-point operations as torch counts them; null without shapes
CREATE MACRO key_averages_by_stack(run, n) AS TABLE
    WITH RECURSIVE
    calls AS (SELECT * FROM call_tree WHERE run_id = run),

    paths AS (
        SELECT
            path_id,
            any_value(caller_path_id) AS caller_path_id,
            any_value(category) AS category,
            min(name) AS name
        FROM calls
        WHERE path_id IS NOT NULL
        GROUP BY path_id
    ),

    -- From each call outwards, until there are enough frames or no more calls.
    climbed AS (
        SELECT path_id, caller_path_id AS next_id, []::VARCHAR[] AS stack FROM paths
        UNION ALL
        SELECT
            climbed.path_id,
            around.caller_path_id,
            CASE
                WHEN around.category = 'python_function'
                    THEN list_append(climbed.stack, around.name)
                ELSE climbed.stack
            END AS stack
        FROM climbed
        INNER JOIN paths AS around ON climbed.next_id = around.path_id
        WHERE len(climbed.stack) < n
    ),

    stacks AS (SELECT path_id, stack FROM climbed WHERE next_id IS NULL OR len(stack) = n)

    SELECT
        calls.rank,
        calls.step,
        calls.name,
        coalesce(stacks.stack, []) AS stack,
        FALSE AS is_on_device,
        calls.category = 'user_annotation' AS is_annotation,
        sum(calls.calls - calls.repeated_calls)::BIGINT AS calls,
        sum(calls.total_ns - calls.repeated_ns)::BIGINT AS cpu_total_ns,
        sum(calls.self_ns)::BIGINT AS cpu_self_ns,
        sum(calls.device_ns - calls.repeated_device_ns)::BIGINT AS device_total_ns,
        sum(calls.self_device_ns)::BIGINT AS device_self_ns,
        sum(calls.cpu_bytes - calls.repeated_cpu_bytes)::BIGINT AS cpu_memory_bytes,
        sum(calls.self_cpu_bytes)::BIGINT AS self_cpu_memory_bytes,
        sum(calls.device_bytes - calls.repeated_device_bytes)::BIGINT AS device_memory_bytes,
        sum(calls.self_device_bytes)::BIGINT AS self_device_memory_bytes,
        sum(calls.flops - calls.repeated_flops)::BIGINT AS flops
    FROM calls
    LEFT JOIN stacks ON calls.path_id = stacks.path_id
    GROUP BY ALL
    UNION ALL
    SELECT
        rank,
        step,
        name,
        []::VARCHAR[] AS stack,
        is_on_device,
        is_annotation,
        calls,
        cpu_total_ns,
        cpu_self_ns,
        device_total_ns,
        device_self_ns,
        cpu_memory_bytes,
        self_cpu_memory_bytes,
        device_memory_bytes,
        self_device_memory_bytes,
        flops
    FROM key_averages
    WHERE run_id = run AND is_on_device;
