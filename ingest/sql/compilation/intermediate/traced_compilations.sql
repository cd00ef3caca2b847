-- Intervals in which a thread compiled, as the trace shows them, with their compilation. For a
-- frame, the compilation is the one that torch records inside the interval, or else the one of the
-- next compiled region. Code that is compiled later, such as a backward graph, belongs to the
-- compilation of the region around it.
-- One row: an outermost phase.
-- Materialised: an ASOF join reads it.
WITH
recorded AS (
    SELECT lane, start_ns, regexp_extract(name, 'compile_id=(\S+)', 1) AS compile_id
    FROM complete
    WHERE category = 'user_annotation' AND starts_with(name, 'dynamo_data: compile_id=')
),

around AS (
    SELECT lane, from_ns AS start_ns, arg_max(compile_id, nesting_order) AS compile_id
    FROM overlapping('compiled_regions', 'compile_moments')
    GROUP BY lane, from_ns
),

intervals AS (
    SELECT
        *,
        regexp_matches(phase, '^(dynamo|entire_frame_compile|_compile\..*|convert_frame.*)$')
            AS is_frame
    FROM traced_phases
    WHERE is_outermost
),

followed AS (
    SELECT
        intervals.event_id,
        next.compile_id,
        row_number() OVER (
            PARTITION BY next.lane, next.start_ns ORDER BY intervals.end_ns DESC
        ) AS ordinal
    FROM intervals
    ASOF INNER JOIN compiled_regions AS next
        ON intervals.lane = next.lane AND intervals.end_ns <= next.start_ns
    WHERE intervals.is_frame
)

SELECT
    intervals.source_id,
    intervals.rank,
    intervals.lane,
    intervals.start_ns,
    intervals.end_ns,
    CASE
        WHEN recorded.start_ns < intervals.end_ns THEN recorded.compile_id
        WHEN intervals.is_frame THEN followed.compile_id
        ELSE around.compile_id
    END AS compile_id
FROM intervals
LEFT JOIN followed ON intervals.event_id = followed.event_id AND followed.ordinal = 1
LEFT JOIN around
    ON intervals.lane = around.lane AND intervals.start_ns = around.start_ns
ASOF LEFT JOIN recorded
    ON intervals.lane = recorded.lane AND intervals.start_ns <= recorded.start_ns;
