-- What is known of compilations, by who knows it: a log, run.json, a trace.
-- One row: a compilation as one of them tells of it; `times` are the stretches that it took.
CREATE TABLE known_compilations (
    source_id INTEGER,
    rank INTEGER,
    compile_id VARCHAR,
    evidence VARCHAR,
    function VARCHAR,
    file VARCHAR,
    line INTEGER,
    start_ns BIGINT,
    dur_ns BIGINT,
    times STRUCT(start_ns BIGINT, end_ns BIGINT)[],
    reason VARCHAR,
    cache VARCHAR,
    graph_ops INTEGER,
    guards INTEGER,
    graph_breaks INTEGER,
    restarts INTEGER,
    fail_type VARCHAR,
    fail_reason VARCHAR,
    stack VARCHAR
);

-- Microseconds in whole ones, up to 2096, of what may be any number.
CREATE MACRO possible_us(us) AS CASE WHEN us BETWEEN 0 AND 4e15 THEN round(us)::BIGINT END;

-- One row: a compilation of which a log or a trace holds phases.
CREATE TABLE compile_times AS
SELECT
    spans.source_id,
    spans.compile_id,
    spans.evidence,
    any_value(spans.rank) AS rank,
    min(spans.start_ns) AS start_ns,
    sum(spans.end_ns - spans.start_ns)::BIGINT AS dur_ns,
    list(struct_pack(start_ns := spans.start_ns, end_ns := spans.end_ns)) AS times
FROM compile_spans AS spans
INNER JOIN compile_nest USING (event_id)
WHERE compile_nest.depth = 0
GROUP BY
    spans.source_id, spans.compile_id, spans.evidence,
    CASE WHEN spans.compile_id IS NULL THEN spans.event_id END;

-- A log that was cut may hold phases without records, and records without phases.
INSERT INTO known_compilations BY NAME
WITH
records AS (
    SELECT
        source_id,
        compile_id,
        arg_min(body, ordinal) FILTER (WHERE what = 'recompile_reasons') AS reason,
        string_agg(DISTINCT body, ', ' ORDER BY body) FILTER (WHERE what = 'cache') AS cache,
        count(*) FILTER (WHERE what = 'dynamo_graph_break_reason') AS graph_breaks,
        arg_min(stack, ordinal) FILTER (WHERE what = 'dynamo_start') AS stack,
        arg_max(body, ordinal) FILTER (WHERE what = 'compilation_metrics')::JSON AS m
    FROM staged_compile_records
    WHERE compile_id IS NOT NULL
    GROUP BY source_id, compile_id
),

logged AS (
    SELECT
        *,
        1000 * possible_us(coalesce(
            try_cast(m ->> 'start_time_us' AS DOUBLE),
            try_cast(m ->> 'start_time' AS DOUBLE) * 1e6
        )) AS said_start_ns,
        1000 * possible_us(coalesce(
            try_cast(m ->> 'duration_us' AS DOUBLE),
            try_cast(m ->> 'entire_frame_compile_time_s' AS DOUBLE) * 1e6
        )) AS said_dur_ns
    FROM records
    FULL JOIN (FROM compile_times WHERE evidence = 'log') AS times USING (source_id, compile_id)
)

SELECT
    logged.source_id,
    sources.rank,
    logged.compile_id,
    'log' AS evidence,
    logged.m ->> 'co_name' AS function,
    logged.m ->> 'co_filename' AS file,
    try_cast(logged.m ->> 'co_firstlineno' AS INTEGER) AS line,
    coalesce(logged.start_ns, logged.said_start_ns) AS start_ns,
    coalesce(logged.dur_ns, logged.said_dur_ns) AS dur_ns,
    coalesce(
        logged.times,
        [struct_pack(
            start_ns := logged.said_start_ns, end_ns := logged.said_start_ns + logged.said_dur_ns
        )]
    ) AS times,
    coalesce(logged.reason, logged.m ->> 'recompile_reason') AS reason,
    logged.cache,
    try_cast(logged.m ->> 'graph_op_count' AS INTEGER) AS graph_ops,
    try_cast(logged.m ->> 'guard_count' AS INTEGER) AS guards,
    logged.graph_breaks::INTEGER AS graph_breaks,
    json_array_length(logged.m, '$.restart_reasons')::INTEGER AS restarts,
    logged.m ->> 'fail_type' AS fail_type,
    logged.m ->> 'fail_reason' AS fail_reason,
    logged.stack
FROM logged
INNER JOIN staged_sources AS sources USING (source_id);

-- rank<r>.json repeats what run.json says of its own rank.
INSERT INTO known_compilations BY NAME
WITH
said AS (
    SELECT
        rank,
        min(source_id) AS source_id,
        unnest(json_extract(arg_min(body, source_id), '$.compilations[*]')) AS c
    FROM staged_run_json
    GROUP BY rank
),

timed AS (
    SELECT
        *,
        CASE
            WHEN possible_us(try_cast(c ->> 'started_at_ns' AS DOUBLE) / 1000) >= 0
                THEN try_cast(c ->> 'started_at_ns' AS BIGINT)
        END AS start_ns,
        1000 * possible_us(try_cast(c ->> 'seconds' AS DOUBLE) * 1e6) AS dur_ns
    FROM said
    WHERE c ->> 'compile_id' IS NOT NULL
)

SELECT
    source_id,
    rank,
    c ->> 'compile_id' AS compile_id,
    'run_json' AS evidence,
    c ->> 'function' AS function,
    c ->> 'file' AS file,
    try_cast(c ->> 'line' AS INTEGER) AS line,
    start_ns,
    dur_ns,
    [struct_pack(start_ns := start_ns, end_ns := start_ns + dur_ns)] AS times,
    c ->> 'reason' AS reason,
    try_cast(c ->> 'graph_breaks' AS INTEGER) AS graph_breaks,
    c ->> 'failed' AS fail_reason
FROM timed;

INSERT INTO known_compilations BY NAME
SELECT source_id, rank, compile_id, evidence, start_ns, dur_ns, times
FROM compile_times
WHERE evidence = 'trace';

-- What ran in a trace that does not show its compilation was compiled before.
INSERT INTO known_compilations BY NAME
SELECT DISTINCT source_id, rank, compile_id, 'trace' AS evidence, [] AS times
FROM compiled_regions
WHERE compile_id <> '' AND (source_id, compile_id) NOT IN (
    SELECT (source_id, compile_id) FROM compile_times WHERE compile_id IS NOT NULL
);
