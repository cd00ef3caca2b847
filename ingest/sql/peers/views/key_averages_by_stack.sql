-- torch.profiler's `key_averages(group_by_stack_n=n)` table for each step, with the Python frames
-- of the trace: `key_averages_by_stack(run, n)`. torch's own stacks are empty unless the profiler
-- ran with `verbose`. Then the tables differ in two ways. Operators of the backward pass have the
-- frames of the forward pass in torch, and here the frames that ran when they ran. An annotation is
-- inside the frames of `record_function` in torch, and here inside the frame that entered it.
-- One row: a name under the same innermost frames in a step of a rank.
--
-- rank
-- step          innermost step that contains the start of the calls; null outside steps
-- name          name, as in `key_averages`
-- stack         the innermost Python frames around it, at most `n`, innermost first
-- is_on_device  whether it ran on a device, where rows have no stack
-- is_annotation
-- calls         number of calls, or of device activities
-- cpu_total_ns, cpu_self_ns, device_total_ns, device_self_ns, cpu_memory_bytes,
-- self_cpu_memory_bytes, device_memory_bytes, self_device_memory_bytes, flops
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

    -- Walk outwards from each call until there are `n` frames or no more callers.
    climbed AS (
        SELECT path_id, caller_path_id AS next_id, []::VARCHAR[] AS stack FROM paths
        UNION ALL
        SELECT
            climbed.path_id,
            around.caller_path_id,
            CASE
                WHEN around.category = 'python_function' AND is_in_torch_stack(around.name)
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
        sum(COLUMNS([
            'calls', 'cpu_total_ns', 'cpu_self_ns', 'device_total_ns',
            'device_self_ns', 'cpu_memory_bytes', 'self_cpu_memory_bytes',
            'device_memory_bytes', 'self_device_memory_bytes', 'flops'
        ]))::BIGINT
    FROM torch_calls
    LEFT JOIN stacks ON torch_calls.counted_path_id = stacks.path_id
    WHERE torch_calls.run_id = run
    GROUP BY ALL;
