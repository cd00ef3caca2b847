-- Of what `advice_checks` looks at, that in which the device was at work on kernels and copies that
-- could be fewer, faster, or beside others: `small_kernels`, `exposed_communication`,
-- `exposed_copy`, `float_matmul`.
-- One row: a kind of advice, for a device of a rank of a run; without a device, for a rank's host.
--
-- run_id    the run
-- rank      rank of the process
-- device    number of the device; null where the host is measured
-- kind      kind of advice, as there
-- bound_ns  time that it can save in a step at most, ns, where that can be told
-- what      what was found, in a sentence
-- remedy    what to try
-- kernel    kernel or copy that has the most of it; null where it is about operators
-- op        operator that has the most of it; null where it is about kernels
-- not_told  why there is no bound; null where there is one
WITH
summaries AS NOT MATERIALIZED (
    SELECT
        *,
        if(steps > 1, format(' of {} steps', steps), '') AS of_steps,
        if(steps_from = 'run', 'the run', 'a step') AS a_step,
        if(measure = 'host', 'the run has no device', NULL) AS no_device,
        CASE
            WHEN measure = 'host' THEN 'the run has no device'
            WHEN launches IS NULL THEN 'the trace does not tell which calls launched the kernels'
        END AS no_launches
    FROM run_metrics
),

short AS (
    SELECT
        run_id,
        rank,
        device,
        sum(calls) AS calls,
        sum(device_ns) AS device_ns,
        sum(idle_ns) AS idle_ns,
        arg_max(name, device_ns + idle_ns) AS kernel
    FROM short_kernels
    GROUP BY run_id, rank, device
),

small_kernels AS (
    SELECT
        summary.run_id,
        summary.rank,
        summary.device,
        'small_kernels' AS kind,
        coalesce(short.device_ns + short.idle_ns, 0)::BIGINT // summary.steps AS bound_ns,
        format(
            '{:,} of {:,.0f} kernels{} took less time than the call that launched them: {:,.2f} ms '
            'of {}, and {:,.2f} ms idle right before them.',
            short.calls::BIGINT,
            summary.kernels * summary.steps,
            summary.of_steps,
            short.device_ns / summary.steps / 1e6,
            summary.a_step,
            short.idle_ns / summary.steps / 1e6
        ) AS what,
        'Fuse them (torch.compile), record CUDA graphs, or give each more work (a larger batch).'
            AS remedy,
        short.kernel,
        NULL::VARCHAR AS op,
        summary.no_launches AS not_told
    FROM summaries AS summary
    LEFT JOIN short
        ON
            summary.run_id = short.run_id
            AND summary.rank = short.rank
            AND summary.device IS NOT DISTINCT FROM short.device
),

most_moved AS (
    SELECT run_id, rank, device, class, name AS kernel
    FROM (
        SELECT
            run_id,
            rank,
            device,
            class,
            name,
            row_number() OVER (
                PARTITION BY run_id, rank, device, class ORDER BY sum(inside_ns) DESC, name
            ) AS place
        FROM measured_kernels
        WHERE class <> 'compute'
        GROUP BY run_id, rank, device, class, name
    )
    WHERE place = 1
),

exposed AS (
    SELECT
        run_id,
        rank,
        device,
        unnest([
            {
                'kind': 'exposed_communication',
                'class': 'communication',
                'bound_ns': exposed_communication_ns,
                'what': format(
                    'Communication took {:,.2f} ms of {}; during {:,.2f} ms of it nothing was '
                    'computed. Waiting for other ranks counts as communication.',
                    communication_ns / 1e6,
                    a_step,
                    exposed_communication_ns / 1e6
                ),
                'remedy': 'Start it earlier, beside the computation (buckets, prefetching), send '
                || 'less, or even out the work of the ranks.'
            },
            {
                'kind': 'exposed_copy',
                'class': 'copy',
                'bound_ns': exposed_copy_ns,
                'what': format(
                    'Copies and sets took {:,.2f} ms of {}; during {:,.2f} ms of it nothing else '
                    'ran.',
                    copy_ns / 1e6,
                    a_step,
                    exposed_copy_ns / 1e6
                ),
                'remedy': 'Copy on a stream of its own, from pinned memory, ahead of its use; or '
                || 'keep the data on the device.'
            }
        ]) AS found,
        no_device AS not_told
    FROM summaries
),

moving AS (
    SELECT
        exposed.run_id,
        exposed.rank,
        exposed.device,
        exposed.found.kind,
        exposed.found.bound_ns,
        exposed.found.what,
        exposed.found.remedy,
        most_moved.kernel,
        exposed.not_told
    FROM exposed
    LEFT JOIN most_moved
        ON
            exposed.run_id = most_moved.run_id
            AND exposed.rank = most_moved.rank
            AND exposed.device IS NOT DISTINCT FROM most_moved.device
            AND exposed.found.class = most_moved.class
),

matmuls AS (
    SELECT
        run_id,
        rank,
        device,
        sum(calls) AS calls,
        sum(device_ns) AS device_ns,
        arg_max(op, device_ns) AS op
    FROM float_matmuls
    GROUP BY run_id, rank, device
),

run_devices AS (
    SELECT
        run_id,
        device_name,
        regexp_matches(device_name, concat(
            '\b(V100|T4|A2|A10G?|A16|A30|A40|A100|A800|A6000|L4|L20|L40S?|[HB][1-8]00|H20|',
            'GH200|GB[23]00)\b|RTX|TITAN V|\bMI[123]\d\d'
        )) AS has_tensor_cores
    FROM runs
),

typed AS (
    SELECT run_id, rank, count(input_types) > 0 AS recorded
    FROM ops
    GROUP BY run_id, rank
),

float_matmul AS (
    SELECT
        summary.run_id,
        summary.rank,
        summary.device,
        'float_matmul' AS kind,
        coalesce(matmuls.device_ns, 0)::BIGINT // summary.steps AS bound_ns,
        format(
            '{:,} matrix multiplications and convolutions{} had float32 inputs and no kernel named '
            'after tensor cores: {:,.2f} ms of {}.',
            matmuls.calls::BIGINT,
            summary.of_steps,
            matmuls.device_ns / summary.steps / 1e6,
            summary.a_step
        ) AS what,
        'Use bfloat16 or half precision (torch.autocast), or, where the device has it, '
        'torch.set_float32_matmul_precision("high"); check the results.' AS remedy,
        matmuls.op,
        CASE
            WHEN summary.measure = 'host' THEN summary.no_device
            WHEN runs.device_name IS NULL THEN 'the trace does not name the device'
            WHEN NOT runs.has_tensor_cores
                THEN format('whether {} has tensor cores is not known here', runs.device_name)
            WHEN typed.recorded IS NOT TRUE
                THEN 'the types of inputs were not recorded (record_shapes=True)'
        END AS not_told
    FROM summaries AS summary
    INNER JOIN run_devices AS runs ON summary.run_id = runs.run_id
    LEFT JOIN typed ON summary.run_id = typed.run_id AND summary.rank = typed.rank
    LEFT JOIN matmuls
        ON
            summary.run_id = matmuls.run_id
            AND summary.rank = matmuls.rank
            AND summary.device IS NOT DISTINCT FROM matmuls.device
)

FROM small_kernels
UNION ALL BY NAME
FROM moving
UNION ALL BY NAME
FROM float_matmul;
