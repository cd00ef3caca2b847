-- Compilations that run.json describes. rank<r>.json repeats the entries of run.json for its rank.
-- One row: a compilation of a rank. An id that occurs again was compiled after a reset of Dynamo.
WITH
described AS (
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
    FROM described
    WHERE c ->> 'compile_id' IS NOT NULL
),

repeated AS (
    SELECT
        *,
        c ->> 'compile_id' AS compile_id,
        row_number() OVER (PARTITION BY rank, compile_id ORDER BY start_ns) - 1 AS times_before
    FROM timed
)

SELECT
    source_id,
    rank,
    compile_id,
    (
        max(times_before) OVER (
            PARTITION BY rank ORDER BY start_ns ROWS UNBOUNDED PRECEDING
        )
    )::INTEGER AS reset,
    'run_json' AS evidence,
    c ->> 'function' AS function,
    c ->> 'file' AS filename,
    try_cast(c ->> 'line' AS BIGINT) AS line,
    start_ns,
    dur_ns,
    [struct_pack(start_ns := start_ns, end_ns := start_ns + dur_ns)] AS times,
    c ->> 'reason' AS reason,
    try_cast(c ->> 'graph_breaks' AS INTEGER) AS graph_breaks,
    c ->> 'failed' AS fail_reason
FROM repeated;
