-- Compilations in compile logs. A truncated log may hold phases without records, and records
-- without phases.
-- One row: a compilation of a log.
WITH
records AS (
    SELECT
        source_id,
        compile_id,
        reset,
        arg_min(body, ordinal) FILTER (WHERE what = 'recompile_reasons') AS reason,
        string_agg(DISTINCT body, ', ' ORDER BY body) FILTER (WHERE what = 'cache') AS cache,
        count(*) FILTER (WHERE what = 'dynamo_graph_break_reason') AS graph_breaks,
        arg_min(stack, ordinal) FILTER (WHERE what = 'dynamo_start') AS stack,
        arg_max(body, ordinal) FILTER (WHERE what = 'compilation_metrics')::JSON AS m
    FROM staged_compile_records
    WHERE compile_id IS NOT NULL
    GROUP BY source_id, compile_id, reset
),

logged AS (
    SELECT
        *,
        1000 * possible_us(coalesce(
            try_cast(m ->> 'start_time_us' AS DOUBLE),
            try_cast(m ->> 'start_time' AS DOUBLE) * 1e6
        )) AS metrics_start_ns,
        1000 * possible_us(coalesce(
            try_cast(m ->> 'duration_us' AS DOUBLE),
            try_cast(m ->> 'entire_frame_compile_time_s' AS DOUBLE) * 1e6
        )) AS metrics_dur_ns
    FROM records
    FULL JOIN (FROM compile_times WHERE evidence = 'log') AS times
        USING (source_id, compile_id, reset)
)

SELECT
    logged.source_id,
    sources.rank,
    logged.compile_id,
    logged.reset,
    'log' AS evidence,
    logged.m ->> 'co_name' AS function,
    logged.m ->> 'co_filename' AS filename,
    try_cast(logged.m ->> 'co_firstlineno' AS BIGINT) AS line,
    coalesce(logged.start_ns, logged.metrics_start_ns) AS start_ns,
    coalesce(logged.dur_ns, logged.metrics_dur_ns) AS dur_ns,
    coalesce(
        logged.times,
        [struct_pack(
            start_ns := logged.metrics_start_ns,
            end_ns := logged.metrics_start_ns + logged.metrics_dur_ns
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
