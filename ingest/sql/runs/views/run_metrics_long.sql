-- The metrics of `run_metrics` and the parts of `run_parts`, one per row: for tables, charts and
-- conditions over any of them.
-- One row: a metric of a device of a rank of a run; in a run without a device, of a rank.
--
-- run_id, rank, device, is_default
-- is_slowest_of_rank
-- metric      name of a column of `run_metrics` without its unit, `idle_` and a cause of idle time,
--             the name of another part, or from `run_efficiency`: mfu, bandwidth or flop_rate,
--             which are null if less than 90 % of the work is known
-- unit
-- value       value of the metric; negative for an overlap; null if not known
-- is_part     whether the metric is one of the parts that add up to metric `wall`
-- ordinal     order in which to show the metrics: the wall time, its parts, then the others
WITH
listed AS (
    SELECT
        metrics.run_id,
        metrics.rank,
        metrics.device,
        metrics.is_default,
        metrics.is_slowest_of_rank,
        [{ 'metric': 'wall', 'unit': 'ns', 'value': metrics.wall_ns }]
        -- Parts that the run cannot have get a row without a value. The other parts come from
        -- `run_parts` below. The median step has no fill. Each list is a constant, which DuckDB
        -- evaluates once.
        || if(
            metrics.measure = 'device', absent_parts('is_of_device'), absent_parts('is_of_host')
        )
        || [
            { 'metric': 'range', 'unit': 'ns', 'value': metrics.range_ns },
            { 'metric': 'mean_wall', 'unit': 'ns', 'value': metrics.mean_wall_ns },
            { 'metric': 'min_wall', 'unit': 'ns', 'value': metrics.min_wall_ns },
            { 'metric': 'max_wall', 'unit': 'ns', 'value': metrics.max_wall_ns },
            { 'metric': 'busy', 'unit': 'ns', 'value': metrics.busy_ns },
            { 'metric': 'idle', 'unit': 'ns', 'value': metrics.idle_ns },
            {
                'metric': 'exposed_communication',
                'unit': 'ns',
                'value': metrics.exposed_communication_ns
            },
            { 'metric': 'exposed_copy', 'unit': 'ns', 'value': metrics.exposed_copy_ns },
            { 'metric': 'outside_busy', 'unit': 'ns', 'value': metrics.outside_busy_ns },
            { 'metric': 'bubbles', 'unit': 'count', 'value': metrics.bubbles },
            { 'metric': 'activities', 'unit': 'count', 'value': metrics.activities },
            { 'metric': 'kernels', 'unit': 'count', 'value': metrics.kernels },
            { 'metric': 'mean_kernel', 'unit': 'ns', 'value': metrics.mean_kernel_ns },
            { 'metric': 'short_kernels', 'unit': 'count', 'value': metrics.short_kernels },
            { 'metric': 'launches', 'unit': 'count', 'value': metrics.launches },
            { 'metric': 'graph_launches', 'unit': 'count', 'value': metrics.graph_launches },
            { 'metric': 'launch_call', 'unit': 'ns', 'value': metrics.launch_call_ns },
            { 'metric': 'compilations', 'unit': 'count', 'value': metrics.compilations },
            { 'metric': 'recompiles', 'unit': 'count', 'value': metrics.recompiles },
            { 'metric': 'compile', 'unit': 'ns', 'value': metrics.compile_ns },
            { 'metric': 'peak', 'unit': 'bytes', 'value': metrics.peak_bytes },
            { 'metric': 'steps', 'unit': 'count', 'value': metrics.steps },
            { 'metric': 'mfu', 'unit': 'percent', 'value': known.mfu_percent },
            { 'metric': 'bandwidth', 'unit': 'percent', 'value': known.bandwidth_percent },
            { 'metric': 'flop_rate', 'unit': 'TFLO/s', 'value': known.tflop_per_s }
        ] AS metrics
    FROM run_metrics AS metrics
    -- If less work is known, these are lower bounds, which must not be compared.
    LEFT JOIN run_efficiency AS known
        ON
            metrics.run_id = known.run_id
            AND metrics.device_id = known.device_id
            AND NOT known.is_lower_bound
),

unnested AS (
    SELECT
        run_id,
        listed.rank,
        device,
        is_default,
        is_slowest_of_rank,
        unnest(metrics) AS row,
        generate_subscripts(metrics, 1) AS ordinal
    FROM listed
)

SELECT
    run_id,
    unnested.rank,
    device,
    is_default,
    is_slowest_of_rank,
    row.metric,
    row.unit,
    row.value,
    coalesce(row.is_part, FALSE) AS is_part,
    ordinal
FROM unnested
WHERE row IS NOT NULL
UNION ALL
SELECT
    run_id,
    run_parts.rank,
    device,
    is_default,
    is_slowest_of_rank,
    metric_of_part(part, is_idle) AS metric,
    'ns' AS unit,
    ns AS value,
    TRUE AS is_part,
    1 + ordinal AS ordinal
FROM run_parts
WHERE is_idle IS NOT NULL;
