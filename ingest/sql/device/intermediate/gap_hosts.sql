-- What the launching thread did during a gap while the device waited for it.
-- One row: a gap whose next activity was launched after the gap began.
-- Materialised: it is read more than once.
--
-- The reported operator or frame is the innermost one that covers at least half of the gap. If
-- there is none, it is a wrapper that does, or else the one that covers most of the gap. A wait is
-- described by the outermost operator and the innermost line of Python that ran when the gap began.
--
-- The aggregates are largest and smallest numbers. DuckDB keeps the states of `arg_max` in memory,
-- and a run with many gaps has no room for them.
WITH
pairs AS MATERIALIZED (
    SELECT
        host_gaps.gap_id,
        pair.span_id,
        pair.overlap_ns,
        2 * pair.overlap_ns >= host_gaps.to_ns - from_ns AS fills,
        pair.start_ns < from_ns AS began_before,
        coalesce(pair.span_id = host_gaps.copy_id, FALSE) AS is_copy
    FROM overlapping('launching_spans', 'host_gaps') AS pair
    INNER JOIN host_gaps USING (lane, from_ns)
),

-- `nesting` numbers the spans, those of a thread from outermost to innermost.
spans AS MATERIALIZED (
    SELECT
        event_id,
        name,
        category,
        start_ns,
        end_ns,
        row_number() OVER (ORDER BY start_ns, end_ns DESC, event_index, event_id) AS nesting
    FROM complete
    WHERE event_id IN (SELECT pairs.span_id FROM pairs)
),

candidates AS (
    SELECT
        pairs.gap_id,
        span.nesting,
        -- A number with the same order as the two numbers together.
        pairs.overlap_ns::HUGEINT << 40 | span.nesting AS by_overlap,
        pairs.fills,
        pairs.began_before,
        span.category IN ('cpu_op', 'user_annotation') AS is_op,
        span.category = 'cpu_op' AS is_cpu_op,
        is_wrapper(span.name) AS wraps,
        span.name LIKE 'ProfilerStep#%' OR stage_mark(span.name) IS NOT NULL AS is_step,
        span.category = 'python_function' AS is_frame,
        span.category = 'python_function' AND NOT starts_with(span.name, '<') AS is_python,
        span.category <> 'python_function' AND is_compilation(span.name) AS compiles,
        span.category <> 'python_function' AND is_data_loader(span.name) AS loads_data,
        span.category <> 'python_function'
        AND pairs.began_before
        AND (is_wait(span.name) OR pairs.is_copy) AS waits
    FROM pairs
    INNER JOIN spans AS span ON pairs.span_id = span.event_id
),

hosts AS (
    SELECT
        gap_id,
        coalesce(
            max(nesting) FILTER (WHERE is_op AND NOT wraps AND fills),
            max(nesting) FILTER (WHERE is_op AND NOT is_step AND fills),
            max(by_overlap) FILTER (WHERE is_op AND NOT wraps) % (1::HUGEINT << 40)
        )::BIGINT AS op,
        coalesce(
            max(nesting) FILTER (WHERE is_frame AND fills),
            max(by_overlap) FILTER (WHERE is_frame) % (1::HUGEINT << 40)
        )::BIGINT AS frame,
        bool_or(compiles AND fills) AS compiled,
        bool_or(loads_data AND fills) AS loaded_data,
        bool_or(waits) AS waited,
        min(nesting) FILTER (WHERE waits) AS wait,
        min(nesting) FILTER (WHERE is_cpu_op AND NOT wraps AND began_before) AS wait_op,
        max(nesting) FILTER (WHERE is_python AND began_before) AS wait_frame
    FROM candidates
    GROUP BY gap_id
)

SELECT
    host_gaps.gap_id,
    op.name AS host_op,
    least(op.end_ns, host_gaps.to_ns) - greatest(op.start_ns, host_gaps.from_ns) AS host_op_ns,
    frame.name AS host_frame,
    coalesce(hosts.compiled, FALSE) AS compiled,
    coalesce(hosts.loaded_data, FALSE) AS loaded_data,
    host_gaps.blocked OR coalesce(hosts.waited, FALSE) AS waited,
    coalesce(wait.name, host_gaps.blocking_call) AS wait,
    wait_op.name AS wait_op,
    wait_frame.name AS wait_frame
FROM host_gaps
LEFT JOIN hosts ON host_gaps.gap_id = hosts.gap_id
LEFT JOIN spans AS op ON hosts.op = op.nesting
LEFT JOIN spans AS frame ON hosts.frame = frame.nesting
LEFT JOIN spans AS wait ON hosts.wait = wait.nesting
LEFT JOIN spans AS wait_op ON hosts.wait_op = wait_op.nesting
LEFT JOIN spans AS wait_frame ON hosts.wait_frame = wait_frame.nesting;
