-- Problems with the compilations of a source.
-- One row: a warning.
WITH graphs_without_origins AS (
    SELECT
        source_id,
        count(*) AS graphs,
        count(*) FILTER (WHERE NOT has_origins) AS without_origins,
        count(*) FILTER (WHERE NOT has_origins AND aot_id LIKE '%_backward') AS backward
    FROM graphs
    GROUP BY source_id
)

SELECT
    source_id,
    'graphs_without_origins' AS code,
    concat(
        format(
            '{} of {} graphs have no record of the ops that their kernels compute',
            without_origins, graphs
        ),
        CASE
            WHEN backward = without_origins THEN ': torch does not log this for backward graphs'
            ELSE ': record again with INDUCTOR_PROVENANCE=1 and a fresh cache'
        END
    ) AS message
FROM graphs_without_origins
WHERE without_origins > 0
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
