-- Phases of compilations: from the log, and of those that it does not know from the traces.

-- The compilation that a compiled region of a trace belongs to.
-- One row: a region.
CREATE TABLE compiled_regions AS
SELECT
    source_id,
    rank,
    lane,
    start_ns,
    end_ns,
    start_ns AS place,
    regexp_extract(name, '^Torch-Compiled Region: (\S+)', 1) AS compile_id
FROM complete
WHERE category IN ('cpu_op', 'user_annotation') AND starts_with(name, 'Torch-Compiled Region: ');

-- One row: an operator that is a phase of torch.compile.
CREATE TABLE traced_phases AS
SELECT
    *,
    max(CASE WHEN is_outermost THEN start_ns END) OVER so_far AS compiled_from_ns
FROM (
    SELECT
        source_id,
        rank,
        event_id,
        lane,
        start_ns,
        end_ns,
        event_index,
        replace(name, ' (dynamo_timed)', '') AS phase,
        coalesce(start_ns >= max(end_ns) OVER before, TRUE) AS is_outermost
    FROM complete
    WHERE
        category = 'cpu_op'
        AND name IN (
            SELECT name FROM (SELECT DISTINCT name FROM staged WHERE category = 'cpu_op')
            WHERE is_compilation(name)
        )
    WINDOW before AS (
        PARTITION BY lane ORDER BY start_ns, end_ns DESC, event_index
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
WINDOW so_far AS (PARTITION BY lane ORDER BY start_ns, end_ns DESC, event_index);

CREATE VIEW compile_moments AS
SELECT lane, start_ns AS from_ns, start_ns + 1 AS to_ns FROM traced_phases WHERE is_outermost;

-- Which compilation each of them is: a frame's as torch notes it inside, else of the region that
-- comes next; what is compiled later, such as a backward graph, that of the region around it.
-- One row: a stretch of a thread in which torch compiled.
CREATE TABLE traced_compilations AS
WITH
noted AS (
    SELECT lane, start_ns, regexp_extract(name, 'compile_id=(\S+)', 1) AS compile_id
    FROM complete
    WHERE category = 'user_annotation' AND starts_with(name, 'dynamo_data: compile_id=')
),

around AS (
    SELECT lane, from_ns AS start_ns, arg_max(compile_id, place) AS compile_id
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
        ) AS place
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
LEFT JOIN followed ON stretches.event_id = followed.event_id AND followed.place = 1
LEFT JOIN around
    ON stretches.lane = around.lane AND stretches.start_ns = around.start_ns
ASOF LEFT JOIN noted
    ON stretches.lane = noted.lane AND stretches.start_ns <= noted.start_ns;

-- One row: a phase. Those of other threads, of which the log names no compilation, do not nest.
CREATE TABLE compile_spans AS
SELECT
    phases.source_id,
    sources.rank,
    row_number() OVER () AS event_id,
    hash(phases.source_id, phases.compile_id) AS lane,
    phases.start_ns,
    phases.end_ns,
    0 AS event_index,
    phases.compile_id,
    phases.phase,
    'log' AS evidence
FROM staged_compile_phases AS phases
INNER JOIN staged_sources AS sources USING (source_id)
UNION ALL
SELECT
    phases.source_id,
    phases.rank,
    -phases.event_id AS event_id,
    phases.lane,
    phases.start_ns,
    phases.end_ns,
    phases.event_index,
    compiled.compile_id,
    phases.phase,
    'trace' AS evidence
FROM traced_phases AS phases
INNER JOIN traced_compilations AS compiled
    ON phases.lane = compiled.lane AND phases.compiled_from_ns = compiled.start_ns
WHERE NOT EXISTS (
    FROM (
        SELECT DISTINCT sources.rank, logged.compile_id
        FROM staged_compile_phases AS logged
        INNER JOIN staged_sources AS sources USING (source_id)
    ) AS known
    WHERE
        known.rank = phases.rank
        AND coalesce(known.compile_id = compiled.compile_id, compiled.compile_id IS NULL)
);

CREATE VIEW nesting_phases AS
FROM compile_spans WHERE evidence = 'trace' OR compile_id IS NOT NULL;
