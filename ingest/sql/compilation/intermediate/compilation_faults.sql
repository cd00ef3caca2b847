-- Problems with the compilations of a source.
-- One row: a warning.
WITH
graphs_without_origins AS (
    SELECT
        source_id,
        count(*) AS graphs,
        count(*) FILTER (WHERE NOT has_origins) AS without_origins,
        count(*) FILTER (WHERE NOT has_origins AND aot_id LIKE '%_backward') AS backward
    FROM graphs
    GROUP BY source_id
),

replays AS (
    SELECT DISTINCT graph_calls.region_id
    FROM launches
    ASOF INNER JOIN graph_calls
        ON launches.lane = graph_calls.lane AND launches.launch_ns >= graph_calls.start_ns
    WHERE is_graph_launch(launches.launch_name) AND launches.launch_ns < graph_calls.end_ns
),

calls AS (
    SELECT
        rank,
        region_id IN (FROM replays) AS is_replay,
        region_id NOT IN (SELECT region_id FROM compiled_calls) AS is_unlinked,
        count(*) OVER (PARTITION BY rank) AS calls
    FROM graph_calls
),

unlinked AS (
    SELECT rank, is_replay, calls, count(*) AS unlinked
    FROM calls
    WHERE is_unlinked
    GROUP BY ALL
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
    CASE WHEN is_replay THEN 'calls_replayed' ELSE 'calls_not_linked' END AS code,
    format(
        '{} of {} calls of compiled graphs are not linked to their kernels: {}',
        unlinked.unlinked,
        unlinked.calls,
        CASE
            WHEN unlinked.is_replay
                THEN 'they replay a CUDA graph, and the trace does not show the calls in it'
            ELSE
                'the trace and the log differ, or the trace has no kernels (on a CPU, '
                'cpp.enable_kernel_profile records them)'
        END
    ) AS message
FROM (SELECT rank, min(source_id) AS source_id FROM graphs GROUP BY rank) AS logs
INNER JOIN unlinked USING (rank);
