-- Device time, idle time, memory and floating-point operations of calls, and the sums over the
-- calls directly inside.
-- One row: a call with at least one of these. The others are 0; `flops` is null.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH
combined AS (
    SELECT
        event_id,
        coalesce(max(device_ns), 0) AS device_ns,
        coalesce(max(idle_ns), 0) AS idle_ns,
        coalesce(max(cpu_bytes), 0) AS cpu_bytes,
        coalesce(max(device_bytes), 0) AS device_bytes,
        max(flops) AS flops
    FROM (
        FROM call_device_time
        UNION ALL BY NAME
        FROM call_memory
        UNION ALL BY NAME
        FROM call_flops
    )
    GROUP BY event_id
),

left_out AS (
    SELECT nest.event_id, nest.parent_id
    FROM host_nest AS nest
    INNER JOIN call_names USING (name_number)
    WHERE call_names.name_id = 0
),

-- A call that torch leaves out of its tables is not a caller: the call around it counts instead.
callers AS (
    SELECT
        nest.event_id,
        if(left_out.event_id IS NULL, nest.parent_id, left_out.parent_id) AS caller_id
    FROM host_nest AS nest
    LEFT JOIN left_out ON nest.parent_id = left_out.event_id
),

inside AS (
    SELECT
        callers.caller_id AS event_id,
        sum(COLUMNS(['device_ns', 'idle_ns', 'cpu_bytes', 'device_bytes', 'flops']))::BIGINT
    FROM combined
    INNER JOIN callers USING (event_id)
    WHERE callers.caller_id IS NOT NULL
    GROUP BY callers.caller_id
)

SELECT
    event_id,
    coalesce(combined.device_ns, 0) AS device_ns,
    coalesce(combined.idle_ns, 0) AS idle_ns,
    coalesce(combined.cpu_bytes, 0) AS cpu_bytes,
    coalesce(combined.device_bytes, 0) AS device_bytes,
    combined.flops,
    coalesce(inside.device_ns, 0) AS inner_device_ns,
    coalesce(inside.idle_ns, 0) AS inner_idle_ns,
    coalesce(inside.cpu_bytes, 0) AS inner_cpu_bytes,
    coalesce(inside.device_bytes, 0) AS inner_device_bytes,
    inside.flops AS inner_flops
FROM combined
FULL JOIN inside USING (event_id);
