-- The most memory in use in each of the given steps, if memory was recorded on the same clock:
-- `memory_peaks(step_intervals)`. The argument is the name of a relation like `step_stretches`.
-- One row: a device, or a host, in a step of an input file.
--
-- Memory in use when a step begins counts too. If several files record a device, a snapshot is
-- preferred to a trace, and a trace to a memory timeline.
CREATE MACRO memory_peaks(step_intervals) AS TABLE
    WITH
    -- The last action at a time determines the memory in use after it.
    moments AS (
        SELECT
            totals.curve_id,
            actions.time_ns,
            max(coalesce(totals.active_bytes, totals.allocated_bytes)) AS peak_bytes,
            arg_max(coalesce(totals.active_bytes, totals.allocated_bytes), totals.ordinal)
                AS used_bytes
        FROM memory_totals AS totals
        INNER JOIN memory_actions AS actions ON totals.action_id = actions.action_id
        WHERE actions.time_ns IS NOT NULL
        GROUP BY totals.curve_id, actions.time_ns
    ),

    -- The files that have steps of the same rank.
    devices AS (
        SELECT
            memory.curve_id,
            memory.origin,
            if(memory.device_label = 'cpu', 'host', 'device') AS measure,
            memory_device_id(memory_source.rank, memory.device_label) AS device_id,
            memory.first_ns,
            memory.last_ns,
            step_source.source_id
        FROM memory_devices AS memory
        INNER JOIN staged_sources AS memory_source ON memory.source_id = memory_source.source_id
        INNER JOIN staged_sources AS step_source ON memory_source.rank = step_source.rank
    ),

    reached AS (
        SELECT devices.*, span.step, moments.peak_bytes AS bytes
        FROM moments
        INNER JOIN devices ON moments.curve_id = devices.curve_id
        ASOF INNER JOIN query_table(step_intervals) AS span
            ON devices.source_id = span.source_id AND moments.time_ns >= span.start_ns
        WHERE moments.time_ns < span.end_ns
        UNION ALL
        SELECT devices.*, span.step, moments.used_bytes AS bytes
        FROM devices
        INNER JOIN query_table(step_intervals) AS span
            ON
                devices.source_id = span.source_id
                AND devices.first_ns < span.end_ns
                AND devices.last_ns >= span.start_ns
        ASOF INNER JOIN moments
            ON devices.curve_id = moments.curve_id AND span.start_ns >= moments.time_ns
    ),

    highest AS (
        SELECT source_id, step, measure, device_id, origin, max(bytes) AS peak_bytes
        FROM reached
        GROUP BY source_id, step, measure, device_id, origin
    )

    SELECT
        source_id,
        step,
        measure,
        device_id,
        arg_min(
            peak_bytes, (list_position(['snapshot', 'trace', 'timeline'], origin), -peak_bytes)
        ) AS peak_bytes,
        count(*) OVER (PARTITION BY source_id, step, measure) AS devices
    FROM highest
    GROUP BY source_id, step, measure, device_id;
