-- What the launching thread did while the device waited for it.
-- One row: a gap whose end was launched after it began.
--
-- An operator or frame that covers half of the gap is preferred, the innermost such; where none
-- does, the one that covers most.
CREATE TABLE gap_hosts AS
WITH
met AS (
    SELECT
        pair.interval_id AS gap_id,
        pair.overlap_ns,
        pair.start_ns,
        pair.start_ns <= host_gaps.from_ns AS open_at_start,
        2 * pair.overlap_ns >= host_gaps.to_ns - host_gaps.from_ns AS fills,
        (pair.start_ns, -pair.end_ns, pair.span_id) AS place,
        event.name,
        event.category IN ('cpu_op', 'user_annotation')
        AND NOT is_wrapper(event.name) AS is_op,
        event.category = 'python_function' AS is_frame,
        event.category <> 'python_function' AS is_call
    FROM overlapping('launching_spans', 'host_gaps') AS pair
    INNER JOIN host_gaps USING (interval_id)
    INNER JOIN complete AS event ON pair.span_id = event.event_id
)

SELECT
    gap_id,
    coalesce(
        arg_max(name, place) FILTER (WHERE is_op AND fills),
        arg_max(name, overlap_ns) FILTER (WHERE is_op)
    ) AS host_op,
    coalesce(
        arg_max(name, place) FILTER (WHERE is_frame AND fills),
        arg_max(name, overlap_ns) FILTER (WHERE is_frame)
    ) AS host_frame,
    coalesce(bool_or(is_call AND fills AND is_compilation(name)), FALSE) AS compiled,
    coalesce(bool_or(is_call AND fills AND is_data_loader(name)), FALSE) AS loaded_data,
    coalesce(bool_or(is_call AND open_at_start AND is_wait(name)), FALSE) AS waited
FROM met
GROUP BY gap_id;
