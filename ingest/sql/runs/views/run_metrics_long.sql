-- The metrics of `run_metrics` and the parts of `run_parts`, each in a row: for tables, charts and
-- conditions over any of them.
-- One row: a figure of a device of a rank of a run; of a run without a device, of a rank.
--
-- run_id           the run
-- rank             rank of the process
-- device           number of the device; null where the host is measured
-- slowest          whether this device has the longest wall time of the run
-- slowest_of_rank  whether it has the longest of its rank
-- figure           `bubble_` and a cause of idle time; or another part, or a column of
--                  `run_metrics`, without its unit
-- unit             ns, bytes or count
-- value            the figure; an overlap is negative here; null where not known
-- part             whether it is one of those that add up to figure `wall`
-- position         order in which to show them: the wall time, its parts, and the others
WITH
listed AS (
    SELECT
        metrics.run_id,
        metrics.rank,
        metrics.device,
        metrics.slowest,
        metrics.slowest_of_rank,
        metrics.wall_ns,
        metrics.measure = 'device' AS of_device,
        step_part_rules() AS rules,
        [
            { 'figure': 'span', 'unit': 'ns', 'value': metrics.span_ns },
            { 'figure': 'busy', 'unit': 'ns', 'value': metrics.busy_ns },
            { 'figure': 'bubble', 'unit': 'ns', 'value': metrics.bubble_ns },
            {
                'figure': 'exposed_communication',
                'unit': 'ns',
                'value': metrics.exposed_communication_ns
            },
            { 'figure': 'exposed_copy', 'unit': 'ns', 'value': metrics.exposed_copy_ns },
            { 'figure': 'outside_busy', 'unit': 'ns', 'value': metrics.outside_busy_ns },
            { 'figure': 'bubbles', 'unit': 'count', 'value': metrics.bubbles },
            { 'figure': 'activities', 'unit': 'count', 'value': metrics.activities },
            { 'figure': 'kernels', 'unit': 'count', 'value': metrics.kernels },
            { 'figure': 'mean_kernel', 'unit': 'ns', 'value': metrics.mean_kernel_ns },
            { 'figure': 'short_kernels', 'unit': 'count', 'value': metrics.short_kernels },
            { 'figure': 'launches', 'unit': 'count', 'value': metrics.launches },
            { 'figure': 'graph_launches', 'unit': 'count', 'value': metrics.graph_launches },
            { 'figure': 'launch_call', 'unit': 'ns', 'value': metrics.launch_call_ns },
            { 'figure': 'compilations', 'unit': 'count', 'value': metrics.compilations },
            { 'figure': 'recompiles', 'unit': 'count', 'value': metrics.recompiles },
            { 'figure': 'compile', 'unit': 'ns', 'value': metrics.compile_ns },
            { 'figure': 'peak', 'unit': 'bytes', 'value': metrics.peak_bytes },
            { 'figure': 'steps', 'unit': 'count', 'value': metrics.steps }
        ] AS further
    FROM run_metrics AS metrics
),

-- Parts that the run cannot have are known to be null; the others are rows of `run_parts`.
placed AS (
    SELECT
        *,
        [{ 'figure': 'wall', 'unit': 'ns', 'value': wall_ns, 'part': FALSE, 'position': 1 }]
        || [
            {
                'figure': further[place].figure,
                'unit': further[place].unit,
                'value': further[place].value,
                'part': FALSE,
                'position': 1 + len(rules) + place
            } FOR place IN range(1, len(further) + 1)
        ]
        || [
            {
                'figure': if(rules[place].is_idle, 'bubble_', '') || rules[place].part,
                'unit': 'ns',
                'value': NULL,
                'part': TRUE,
                'position': 1 + place
            } FOR place IN range(1, len(rules) + 1)
            IF NOT if(of_device, rules[place].of_device, rules[place].of_host)
        ] AS figures
    FROM listed
),

unnested AS (
    SELECT
        run_id,
        placed.rank,
        device,
        slowest,
        slowest_of_rank,
        unnest(figures) AS row
    FROM placed
)

SELECT
    run_id,
    unnested.rank,
    device,
    slowest,
    slowest_of_rank,
    row.figure,
    row.unit,
    row.value,
    row.part,
    row.position
FROM unnested
UNION ALL
SELECT
    run_id,
    run_parts.rank,
    device,
    slowest,
    slowest_of_rank,
    if(is_idle, 'bubble_', '') || part AS figure,
    'ns' AS unit,
    ns AS value,
    TRUE AS part,
    1 + ordinal AS position
FROM run_parts;
