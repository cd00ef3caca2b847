-- Stretches in which a thread compiled, as the trace shows them, with their compilation. A frame's
-- id is the one that torch notes inside the stretch, else that of the next compiled region. What is
-- compiled later, such as a backward graph, has the id of the region around it.
-- One row: an outermost phase.
-- Materialised: an ASOF join reads it.
WITH
noted AS (
    SELECT lane, start_ns, regexp_extract(name, 'compile_id=(\S+)', 1) AS compile_id
    FROM complete
    WHERE category = 'user_annotation' AND starts_with(name, 'dynamo_data: compile_id=')
),

around AS (
    SELECT lane, from_ns AS start_ns, arg_max(compile_id, nesting_order) AS compile_id
    FROM overlapping('compiled_regions', 'compile_moments')
    GROUP BY lane, from_ns
),

stretches AS (
    SELECT
        *,
        regexp_matches(phase, '^(dynamo|entire_frame_compile|_compile\..*|convert_frame.*)$')
            AS is_frame
    FROM traced_phases
    WHERE is_outermost
),

followed AS (
    SELECT
        stretches.event_id,
        next.compile_id,
        row_number() OVER (
            PARTITION BY next.lane, next.start_ns ORDER BY stretches.end_ns DESC
        ) AS ordinal
    FROM stretches
    ASOF INNER JOIN compiled_regions AS next
        ON stretches.lane = next.lane AND stretches.end_ns <= next.start_ns
    WHERE stretches.is_frame
)

SELECT
    stretches.source_id,
    stretches.rank,
    stretches.lane,
    stretches.start_ns,
    stretches.end_ns,
    CASE
        WHEN noted.start_ns < stretches.end_ns THEN noted.compile_id
        WHEN stretches.is_frame THEN followed.compile_id
        ELSE around.compile_id
    END AS compile_id
FROM stretches
LEFT JOIN followed ON stretches.event_id = followed.event_id AND followed.ordinal = 1
LEFT JOIN around
    ON stretches.lane = around.lane AND stretches.start_ns = around.start_ns
ASOF LEFT JOIN noted
    ON stretches.lane = noted.lane AND stretches.start_ns <= noted.start_ns;
