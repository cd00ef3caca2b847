-- Part of `advice_checks`: what it looks at while the device was at work on kernels and copies that
-- could be fewer, faster, or beside others: `small_kernels`, `exposed_communication`,
-- `exposed_copy`, `float_matmul`.
-- One row: a kind of advice, for a device of a rank of a run; without a device, for a rank's host.
--
-- run_id          the run
-- rank            rank of the process
-- device          number of the device; null where the host is measured
-- is_slowest      whether this device has the longest wall time of the run
-- wall_ns         wall time of the median step, ns
-- kind            kind of advice, as there
-- bound_ns        time that it can save of the median step at most, ns, where that can be told
-- idle_ns         of that, idle time, ns
-- finding         what was found, in a sentence
-- remedy          what to try
-- kernel          kernel or copy that has the most of it; null where it is about operators
-- op              operator that has the most of it; null where it is about kernels
-- unknown_reason  why there is no bound; null where there is one
WITH
metrics AS NOT MATERIALIZED (
    SELECT
        *,
        if(steps_from = 'run', 'the run', 'the median step') AS a_step
    FROM run_metrics
),

kinds (kind, class) AS (
    VALUES
    ('small_kernels', NULL), ('exposed_communication', 'communication'), ('exposed_copy', 'copy'),
    ('float_matmul', NULL)
),

short_totals AS (
    SELECT
        'small_kernels' AS kind,
        run_id,
        rank,
        device,
        sum(step_calls)::BIGINT AS calls,
        sum(step_device_ns)::BIGINT AS device_ns,
        sum(step_launch_idle_ns)::BIGINT AS launch_idle_ns,
        sum(step_host_idle_ns)::BIGINT AS host_idle_ns,
        arg_max(name, step_device_ns + step_launch_idle_ns) AS kernel
    FROM short_kernels
    GROUP BY run_id, rank, device
),

moved AS (
    SELECT run_id, rank, device, class, name, sum(inside_ns) AS device_ns
    FROM measured_kernels
    WHERE class <> 'compute' AND is_median
    GROUP BY run_id, rank, device, class, name
),

most_moved AS (
    SELECT run_id, rank, device, class, arg_max(name, (device_ns, name)) AS kernel
    FROM moved
    GROUP BY run_id, rank, device, class
),

matmul_totals AS (
    SELECT
        'float_matmul' AS kind,
        run_id,
        rank,
        device,
        sum(step_calls)::BIGINT AS calls,
        sum(step_device_ns)::BIGINT AS device_ns,
        arg_max(op, step_device_ns) AS op
    FROM float_matmuls
    GROUP BY run_id, rank, device
),

recorded_types AS (
    SELECT run_id, rank, count(input_types) > 0 AS has_types
    FROM ops
    GROUP BY run_id, rank
),

facts AS (
    SELECT
        metrics.run_id,
        metrics.rank,
        metrics.device,
        metrics.is_slowest,
        metrics.wall_ns,
        kinds.kind,
        metrics.measure = 'host' AS is_host,
        metrics.launches IS NOT NULL AS has_launches,
        coalesce(recorded_types.has_types, FALSE) AS has_types,
        runs.device_name,
        half_precision_speedup(runs.device_name) AS speedup,
        metrics.a_step,
        metrics.kernels,
        coalesce(short.calls, matmuls.calls) AS calls,
        CASE kinds.kind
            WHEN 'small_kernels' THEN short.device_ns
            WHEN 'exposed_communication' THEN metrics.communication_ns
            WHEN 'exposed_copy' THEN metrics.copy_ns
            WHEN 'float_matmul' THEN matmuls.device_ns
        END AS work_ns,
        CASE kinds.kind
            WHEN 'small_kernels' THEN 0
            WHEN 'exposed_communication'
                THEN metrics.communication_ns - metrics.exposed_communication_ns
            WHEN 'exposed_copy' THEN metrics.copy_ns - metrics.exposed_copy_ns
            -- It still takes the time that it takes at the device's peak.
            WHEN 'float_matmul' THEN work_ns // speedup
        END AS remaining_ns,
        -- What the host caused counts in `host_bound`.
        coalesce(short.launch_idle_ns, 0) AS idle_ns,
        coalesce(short.host_idle_ns, 0) AS host_idle_ns,
        coalesce(short.kernel, most_moved.kernel) AS kernel,
        matmuls.op
    FROM metrics
    CROSS JOIN kinds
    INNER JOIN runs ON metrics.run_id = runs.run_id
    LEFT JOIN recorded_types
        ON metrics.run_id = recorded_types.run_id AND metrics.rank = recorded_types.rank
    LEFT JOIN short_totals AS short
        ON
            metrics.run_id = short.run_id
            AND metrics.rank = short.rank
            AND metrics.device IS NOT DISTINCT FROM short.device
            AND kinds.kind = short.kind
    LEFT JOIN most_moved
        ON
            metrics.run_id = most_moved.run_id
            AND metrics.rank = most_moved.rank
            AND metrics.device IS NOT DISTINCT FROM most_moved.device
            AND kinds.class = most_moved.class
    LEFT JOIN matmul_totals AS matmuls
        ON
            metrics.run_id = matmuls.run_id
            AND metrics.rank = matmuls.rank
            AND metrics.device IS NOT DISTINCT FROM matmuls.device
            AND kinds.kind = matmuls.kind
)

SELECT
    run_id,
    facts.rank,
    device,
    is_slowest,
    wall_ns,
    kind,
    coalesce(work_ns - remaining_ns, 0) + idle_ns AS bound_ns,
    idle_ns,
    CASE kind
        WHEN 'small_kernels'
            THEN format(
                '{:,} of {:,} kernels took less time than the call that launched them: {:,.2f} '
                'ms of {}, and {:,.2f} ms idle right before them.',
                calls,
                kernels,
                work_ns / 1e6,
                a_step,
                idle_ns / 1e6
            ) || if(
                host_idle_ns > 0,
                format(
                    ' Another {:,.2f} ms idle before them, as the host launched late, counts in '
                    'host_bound.',
                    host_idle_ns / 1e6
                ),
                ''
            )
        WHEN 'exposed_communication'
            THEN format(
                'Communication took {:,.2f} ms of {}; during {:,.2f} ms of it nothing was '
                'computed. Waiting for other ranks counts as communication.',
                work_ns / 1e6,
                a_step,
                (work_ns - remaining_ns) / 1e6
            )
        WHEN 'exposed_copy'
            THEN format(
                'Copies and sets took {:,.2f} ms of {}; during {:,.2f} ms of it nothing else ran.',
                work_ns / 1e6,
                a_step,
                (work_ns - remaining_ns) / 1e6
            )
        WHEN 'float_matmul'
            THEN format(
                '{:,} matrix multiplications and convolutions had float32 inputs and no kernel '
                'named after tensor cores: {:,.2f} ms of {}. In half precision they take {:,.2f} '
                'ms or more: its peak rate on {} is {} times as high.',
                calls,
                work_ns / 1e6,
                a_step,
                remaining_ns / 1e6,
                device_name,
                speedup
            )
    END AS finding,
    CASE kind
        WHEN 'small_kernels'
            THEN concat(
                'Fuse them (torch.compile), record CUDA graphs, or give each more work (a larger ',
                'batch).'
            )
        WHEN 'exposed_communication'
            THEN concat(
                'Start it earlier, beside the computation (buckets, prefetching), send less, or ',
                'even out the work of the ranks.'
            )
        WHEN 'exposed_copy'
            THEN concat(
                'Copy on a stream of its own, from pinned memory, ahead of its use; or keep the ',
                'data on the device.'
            )
        WHEN 'float_matmul'
            THEN concat(
                'Use bfloat16 or half precision (torch.autocast), or, where the device has it, ',
                'torch.set_float32_matmul_precision("high"); check the results.'
            )
    END AS remedy,
    kernel,
    op,
    CASE
        WHEN is_host THEN 'the run has no device'
        WHEN kind = 'small_kernels' AND NOT has_launches
            THEN 'the trace does not tell which calls launched the kernels'
        WHEN kind = 'float_matmul' AND device_name IS NULL THEN 'the trace does not name the device'
        WHEN kind = 'float_matmul' AND speedup IS NULL
            THEN format('whether {} has tensor cores is not known here', device_name)
        WHEN kind = 'float_matmul' AND NOT has_types
            THEN 'the types of inputs were not recorded (record_shapes=True)'
    END AS unknown_reason
FROM facts;
