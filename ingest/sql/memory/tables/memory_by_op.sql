-- Memory that operators allocated and freed on each device, counted as torch's own key_averages
-- counts it. Every `[memory]` event between an operator's start and end counts for the operator, on
-- any thread. It counts as the operator's own memory if no inner operator contains the event. If
-- Python frames were recorded, torch counts them as operators too; this table does not. The view
-- `key_averages` does, but it sums the memory of all devices. A call that is the only call inside a
-- caller of the same name is counted together with its caller.
-- One row: the calls of an operator, for one device in an input file.
-- Materialised: DuckDB plans it with all its optimizers; one of them is switched off when files are
-- written.
--
-- run_id, source_id, rank, device_id
-- device_type           type of the device that has the memory: cuda, cpu, xpu, …
-- device                number of that device; null for the CPU
-- op                    name of the operator or annotation
-- calls
-- self_bytes            bytes allocated minus bytes freed, excluding operators inside the calls
-- total_bytes           bytes allocated minus bytes freed, including operators inside the calls
-- self_allocated_bytes  bytes allocated, excluding operators inside the calls
WITH
sums AS (
    SELECT
        source_id,
        device_label,
        time_ns,
        sum(sum(change_bytes)) OVER so_far AS change_bytes,
        sum(sum(greatest(change_bytes, 0))) OVER so_far AS allocated_bytes
    FROM memory_actions
    WHERE origin = 'trace'
    GROUP BY source_id, device_label, time_ns
    WINDOW
        so_far AS (
            PARTITION BY source_id, device_label ORDER BY time_ns ROWS UNBOUNDED PRECEDING
        )
),

devices AS (SELECT DISTINCT source_id, device_label FROM sums),

spans AS (
    SELECT
        complete.source_id,
        complete.event_id,
        complete.name,
        hash(complete.name) AS name_hash,
        complete.start_ns,
        complete.end_ns,
        op_nest.parent_id
    FROM complete
    INNER JOIN op_nest USING (event_id)
    WHERE complete.category IN ('cpu_op', 'user_annotation')
),

callers AS (SELECT parent_id, count(*) AS children FROM op_nest GROUP BY parent_id),

calls AS (
    SELECT
        span.*,
        caller.name_hash AS caller_hash,
        (span.name_hash IS DISTINCT FROM caller.name_hash) OR callers.children > 1 AS counts
    FROM spans AS span
    LEFT JOIN spans AS caller ON span.parent_id = caller.event_id
    LEFT JOIN callers ON span.parent_id = callers.parent_id
),

names AS (
    SELECT
        source_id, name_hash, any_value(name) AS name, count(*) FILTER (WHERE counts) AS calls
    FROM calls
    GROUP BY source_id, name_hash
),

-- As in `call_memory`, most calls need no time-ordered join.
possible AS (
    SELECT calls.* EXCLUDE (name), devices.device_label
    FROM calls
    INNER JOIN devices USING (source_id)
    WHERE
        near(calls.start_ns) <> near(calls.end_ns)
        OR near(calls.start_ns) IN (SELECT near(time_ns) FROM sums)
),

changes AS (
    SELECT
        call.source_id,
        call.device_label,
        call.name_hash,
        call.caller_hash,
        call.counts,
        at_end.change_bytes - coalesce(at_start.change_bytes, 0) AS change_bytes,
        at_end.allocated_bytes - coalesce(at_start.allocated_bytes, 0) AS allocated_bytes
    FROM possible AS call
    ASOF INNER JOIN sums AS at_end
        ON
            call.source_id = at_end.source_id
            AND call.device_label = at_end.device_label
            AND call.end_ns >= at_end.time_ns
    ASOF LEFT JOIN sums AS at_start
        ON
            call.source_id = at_start.source_id
            AND call.device_label = at_start.device_label
            AND call.start_ns > at_start.time_ns
    WHERE at_end.time_ns >= call.start_ns
),

-- What changed during a call counts as its operator's own, and not as its caller's.
parts AS (
    SELECT
        source_id,
        device_label,
        name_hash,
        change_bytes AS self_bytes,
        if(counts, change_bytes, 0) AS total_bytes,
        allocated_bytes AS self_allocated_bytes
    FROM changes
    UNION ALL
    SELECT
        source_id,
        device_label,
        caller_hash AS name_hash,
        -change_bytes AS self_bytes,
        0 AS total_bytes,
        -allocated_bytes AS self_allocated_bytes
    FROM changes
    WHERE caller_hash IS NOT NULL
    UNION ALL
    -- Operators whose calls changed nothing have rows, too.
    SELECT
        names.source_id,
        devices.device_label,
        names.name_hash,
        0 AS self_bytes,
        0 AS total_bytes,
        0 AS self_allocated_bytes
    FROM names
    INNER JOIN devices USING (source_id)
)

SELECT
    parts.source_id,
    any_value(sources.rank) AS rank,
    memory_device_id(any_value(sources.rank), parts.device_label) AS device_id,
    device_type_of(parts.device_label) AS device_type,
    device_of(parts.device_label) AS device,
    any_value(names.name) AS op,
    any_value(names.calls) AS calls,
    sum(parts.self_bytes)::BIGINT AS self_bytes,
    sum(parts.total_bytes)::BIGINT AS total_bytes,
    sum(parts.self_allocated_bytes)::BIGINT AS self_allocated_bytes
FROM parts
INNER JOIN names USING (source_id, name_hash)
INNER JOIN staged_sources AS sources USING (source_id)
GROUP BY parts.source_id, parts.device_label, parts.name_hash;
