-- What is odd about the compilations of a source.
-- One row: a warning.
WITH graphs_without_origins AS (
    SELECT
        source_id,
        count(*) AS graphs,
        count(*) FILTER (WHERE NOT has_origins) AS unsaid,
        count(*) FILTER (WHERE NOT has_origins AND aot_id LIKE '%_backward') AS backward
    FROM graphs
    GROUP BY source_id
)

SELECT
    source_id,
    'graphs_without_origins' AS code,
    concat(
        format('{} of {} graphs do not say which ops their kernels compute', unsaid, graphs),
        CASE
            WHEN backward = unsaid THEN ': torch does not log it for backward graphs'
            ELSE ': log them with INDUCTOR_PROVENANCE=1 and a fresh cache'
        END
    ) AS message
FROM graphs_without_origins
WHERE unsaid > 0
UNION ALL
SELECT
    logs.source_id,
    'calls_not_linked' AS code,
    format(
        '{} of {} calls of compiled graphs are not linked to their kernels: the trace and the log '
        'differ, or the trace has no kernels (on a CPU, cpp.enable_kernel_profile records them)',
        calls.unlinked, calls.calls
    ) AS message
FROM (SELECT rank, min(source_id) AS source_id FROM graphs GROUP BY rank) AS logs
INNER JOIN (
    SELECT
        rank,
        count(*) AS calls,
        count(*) FILTER (
            WHERE region_id NOT IN (SELECT region_id FROM compiled_calls)
        ) AS unlinked
    FROM graph_calls
    GROUP BY rank
) AS calls USING (rank)
WHERE calls.unlinked > 0;
