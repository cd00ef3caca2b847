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
instants AS (
    SELECT
        source_id,
        device_label,
        time_ns,
        sum(change_bytes) AS change_bytes,
        sum(greatest(change_bytes, 0)) AS allocated_bytes
    FROM memory_actions
    WHERE origin = 'trace'
    GROUP BY source_id, device_label, time_ns
),

sums AS (
    SELECT
        source_id,
        device_label,
        time_ns,
        sum(change_bytes) OVER so_far AS change_bytes,
        sum(allocated_bytes) OVER so_far AS allocated_bytes
    FROM instants
    WINDOW
        so_far AS (
            PARTITION BY source_id, device_label ORDER BY time_ns ROWS UNBOUNDED PRECEDING
        )
),

calls AS (
    SELECT
        complete.source_id,
        devices.device_label,
        complete.event_id,
        complete.name,
        complete.start_ns,
        complete.end_ns,
        op_nest.parent_id
    FROM complete
    INNER JOIN (SELECT DISTINCT source_id, device_label FROM sums) AS devices USING (source_id)
    INNER JOIN op_nest ON complete.event_id = op_nest.event_id
),

totals AS (
    SELECT
        calls.source_id,
        calls.device_label,
        calls.event_id,
        calls.name,
        calls.parent_id,
        coalesce(at_end.change_bytes, 0) - coalesce(at_start.change_bytes, 0) AS change_bytes,
        coalesce(at_end.allocated_bytes, 0) - coalesce(at_start.allocated_bytes, 0)
            AS allocated_bytes
    FROM calls
    ASOF LEFT JOIN sums AS at_end
        ON
            calls.source_id = at_end.source_id
            AND calls.device_label = at_end.device_label
            AND calls.end_ns >= at_end.time_ns
    ASOF LEFT JOIN sums AS at_start
        ON
            calls.source_id = at_start.source_id
            AND calls.device_label = at_start.device_label
            AND calls.start_ns > at_start.time_ns
),

inside AS (
    SELECT
        parent_id,
        device_label,
        count(*) AS children,
        sum(change_bytes) AS change_bytes,
        sum(allocated_bytes) AS allocated_bytes
    FROM totals
    WHERE parent_id IS NOT NULL
    GROUP BY parent_id, device_label
),

counted AS (
    SELECT
        totals.source_id,
        totals.device_label,
        totals.name,
        totals.change_bytes,
        totals.change_bytes - coalesce(inside.change_bytes, 0) AS self_bytes,
        totals.allocated_bytes - coalesce(inside.allocated_bytes, 0) AS self_allocated_bytes,
        (totals.name IS DISTINCT FROM caller.name) OR around.children > 1 AS counts
    FROM totals
    LEFT JOIN inside
        ON totals.event_id = inside.parent_id AND totals.device_label = inside.device_label
    LEFT JOIN totals AS caller
        ON totals.parent_id = caller.event_id AND totals.device_label = caller.device_label
    LEFT JOIN inside AS around
        ON totals.parent_id = around.parent_id AND totals.device_label = around.device_label
)

SELECT
    counted.source_id,
    any_value(sources.rank) AS rank,
    memory_device_id(any_value(sources.rank), counted.device_label) AS device_id,
    device_type_of(counted.device_label) AS device_type,
    device_of(counted.device_label) AS device,
    counted.name AS op,
    count(*) FILTER (WHERE counts) AS calls,
    sum(counted.self_bytes)::BIGINT AS self_bytes,
    coalesce(sum(counted.change_bytes) FILTER (WHERE counts), 0)::BIGINT AS total_bytes,
    sum(counted.self_allocated_bytes)::BIGINT AS self_allocated_bytes
FROM counted
INNER JOIN staged_sources AS sources USING (source_id)
GROUP BY counted.source_id, counted.device_label, counted.name;
