-- What operators did to the memory of a device, as torch's own key_averages counts it: every
-- `[memory]` event from an operator's start to its end is the operator's, of whatever thread, and
-- its own are those of no operator inside it (torch also takes Python frames for operators, where
-- they were recorded, and `key_averages` with it, which has the memory of all devices together). A
-- call that is all that its caller of the same name does is counted with it.
-- One row: an operator's name on one device of one rank of a run.
-- Materialised: DuckDB plans it with all its optimizers; files are written with one switched off.
--
-- run_id                the run
-- source_id             the input file
-- rank                  rank of the process
-- device_type           type of the device whose memory it is: cuda, cpu, xpu, …
-- device                its number; null for the CPU
-- op                    operator or annotation
-- calls                 its calls
-- self_bytes            bytes allocated less bytes freed, outside of operators inside it
-- total_bytes           the same with those inside it
-- self_allocated_bytes  bytes allocated, outside of operators inside it
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
