-- What each run already uses, or cannot use, so that no advice proposes it.
-- One row: a run.
-- Indexed: `advice` and `memory_advice` of all runs read it.
--
-- run_id
-- features  some of these, in this order: compiled (`run.json` says so, or compiled code takes at
--           least a tenth of the time of all operators), graphs (recorded CUDA graphs launched at
--           least half of the kernels of a median step), workers (processes loaded data), host (no
--           device was active), inference (operators or stack frames were recorded, and none is of
--           a backward pass or an optimizer)
WITH
ran AS (
    SELECT
        run_id,
        sum(device_ns) FILTER (WHERE is_compiled_region(name)) AS compiled_device_ns,
        sum(self_device_ns) AS device_ns,
        sum(dur_ns) FILTER (WHERE is_compiled_region(name)) AS compiled_host_ns,
        sum(self_ns) FILTER (WHERE is_ranked_on_host(category, name) AND NOT is_compilation(name))
            AS host_ns,
        bool_or(contains(name, '_MultiProcessingDataLoaderIter')) AS has_workers,
        bool_or(regexp_matches(name, '(?i)backward|^autograd::engine|^Optimizer\.')) AS is_training
    FROM ops
    GROUP BY run_id
),

called AS (
    SELECT
        run_id,
        bool_or(
            regexp_matches(function, '(?i)backward|autograd::Engine')
            OR regexp_matches(filename, 'torch[/\\]optim[/\\]')
        ) AS is_training
    FROM stack_frames
    GROUP BY run_id
),

devices AS (
    SELECT
        run_id,
        bool_or(measure = 'device') AS has_device,
        -- Each other launch call launched one kernel.
        bool_or(graph_launches > 0 AND 2 * (launches - graph_launches) <= kernels) AS has_graphs
    FROM run_metrics
    GROUP BY run_id
)

SELECT
    runs.run_id,
    list_filter(
        [
            if(
                runs.mode = 'compiled'
                OR if(
                    devices.has_device,
                    10 * ran.compiled_device_ns >= ran.device_ns,
                    10 * ran.compiled_host_ns >= ran.host_ns
                ),
                'compiled',
                NULL
            ),
            if(devices.has_graphs, 'graphs', NULL),
            if(ran.has_workers, 'workers', NULL),
            if(NOT devices.has_device, 'host', NULL),
            if(
                coalesce(ran.is_training, called.is_training) IS NOT NULL
                AND NOT coalesce(ran.is_training, FALSE)
                AND NOT coalesce(called.is_training, FALSE),
                'inference',
                NULL
            )
        ],
        LAMBDA feature: feature IS NOT NULL
    ) AS features
FROM runs
LEFT JOIN ran ON runs.run_id = ran.run_id
LEFT JOIN called ON runs.run_id = called.run_id
LEFT JOIN devices ON runs.run_id = devices.run_id;
