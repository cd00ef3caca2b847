-- The table of torch.profiler's `key_averages(group_by_stack_n=n)`, for each step, with the Python
-- frames of the trace: `key_averages_by_stack(run, n)`. torch's own stacks are empty unless the
-- profiler was made `verbose`.
-- One row: a name with the same innermost frames around it in a step of a rank.
--
-- rank           rank of the process
-- step           innermost step around the starts of the calls; null outside of steps
-- name           name, as in `key_averages`
-- stack          the innermost frames around it, at most `n`, innermost first
-- is_on_device   whether it ran on a device; it has no stack then
-- is_annotation  whether it is an annotation, such as of `record_function`
-- calls          number of calls, or of device activities
-- cpu_total_ns   sum of their durations on the host, ns
-- cpu_self_ns    time in the calls and in no call inside them, ns
-- device_total_ns  device time, ns: of a device activity its own, of a call all that it launched;
--                null without a device
-- device_self_ns   the same without what calls inside launched, ns
-- cpu_memory_bytes          change of allocated host memory during the calls, bytes; null if memory
--                           was not recorded
-- self_cpu_memory_bytes     the same without the calls inside
-- device_memory_bytes       change of allocated device memory during the calls, bytes; null if
--                           memory was not recorded
-- self_device_memory_bytes  the same without the calls inside
-- flops          floating-point operations as torch counts them; null without shapes
CREATE MACRO key_averages_by_stack(run, n) AS TABLE
    WITH RECURSIVE
    paths AS (
        SELECT
            path_id,
            any_value(caller_path_id) AS caller_path_id,
            any_value(category) AS category,
            min(name) AS name
        FROM call_tree
        WHERE run_id = run AND path_id IS NOT NULL
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
        torch_calls.rank,
        torch_calls.step,
        torch_calls.name,
        coalesce(stacks.stack, []) AS stack,
        torch_calls.is_on_device,
        torch_calls.is_annotation,
        sum(torch_calls.calls)::BIGINT AS calls,
        sum(torch_calls.cpu_total_ns)::BIGINT AS cpu_total_ns,
        sum(torch_calls.cpu_self_ns)::BIGINT AS cpu_self_ns,
        sum(torch_calls.device_total_ns)::BIGINT AS device_total_ns,
        sum(torch_calls.device_self_ns)::BIGINT AS device_self_ns,
        sum(torch_calls.cpu_memory_bytes)::BIGINT AS cpu_memory_bytes,
        sum(torch_calls.self_cpu_memory_bytes)::BIGINT AS self_cpu_memory_bytes,
        sum(torch_calls.device_memory_bytes)::BIGINT AS device_memory_bytes,
        sum(torch_calls.self_device_memory_bytes)::BIGINT AS self_device_memory_bytes,
        sum(torch_calls.flops)::BIGINT AS flops
    FROM torch_calls
    LEFT JOIN stacks ON torch_calls.path_id = stacks.path_id
    WHERE torch_calls.run_id = run
    GROUP BY ALL;
