-- The figures of `run_summaries`, each in a row, for tables and conditions over any of them.
-- One row: a figure of a device of a rank of a run; of a run without a device, of a rank.
--
-- run_id           the run
-- rank             rank of the process
-- device           number of the device; null where the host is measured
-- slowest          whether this device has the longest wall time of the run
-- slowest_of_rank  whether it has the longest of its rank
-- figure           name of the column in `run_summaries`, without its unit
-- unit             ns, bytes or count
-- value            the figure; an overlap is negative here; null where not known
-- part             whether it is one of those that add up to figure `wall`
-- position         order in which to show them: the wall time, its parts, and the others
WITH listed AS (
    SELECT
        summary.run_id,
        summary.rank,
        summary.device,
        summary.slowest,
        summary.slowest_of_rank,
        unnest([
            { 'figure': 'wall', 'unit': 'ns', 'value': summary.wall_ns },
            { 'figure': 'lead', 'unit': 'ns', 'value': summary.lead_ns },
            { 'figure': 'bubble_host', 'unit': 'ns', 'value': summary.bubble_host_ns },
            { 'figure': 'bubble_sync', 'unit': 'ns', 'value': summary.bubble_sync_ns },
            { 'figure': 'bubble_dataloader', 'unit': 'ns', 'value': summary.bubble_dataloader_ns },
            { 'figure': 'bubble_compile', 'unit': 'ns', 'value': summary.bubble_compile_ns },
            { 'figure': 'bubble_launch', 'unit': 'ns', 'value': summary.bubble_launch_ns },
            { 'figure': 'bubble_dependency', 'unit': 'ns', 'value': summary.bubble_dependency_ns },
            { 'figure': 'bubble_unknown', 'unit': 'ns', 'value': summary.bubble_unknown_ns },
            { 'figure': 'compute', 'unit': 'ns', 'value': summary.compute_ns },
            { 'figure': 'communication', 'unit': 'ns', 'value': summary.communication_ns },
            { 'figure': 'copy', 'unit': 'ns', 'value': summary.copy_ns },
            { 'figure': 'generated', 'unit': 'ns', 'value': summary.generated_ns },
            { 'figure': 'overlap', 'unit': 'ns', 'value': -summary.overlap_ns },
            { 'figure': 'tail', 'unit': 'ns', 'value': summary.tail_ns },
            { 'figure': 'span', 'unit': 'ns', 'value': summary.span_ns },
            { 'figure': 'busy', 'unit': 'ns', 'value': summary.busy_ns },
            { 'figure': 'bubble', 'unit': 'ns', 'value': summary.bubble_ns },
            {
                'figure': 'exposed_communication',
                'unit': 'ns',
                'value': summary.exposed_communication_ns
            },
            { 'figure': 'exposed_copy', 'unit': 'ns', 'value': summary.exposed_copy_ns },
            { 'figure': 'outside_busy', 'unit': 'ns', 'value': summary.outside_busy_ns },
            { 'figure': 'bubbles', 'unit': 'count', 'value': summary.bubbles },
            { 'figure': 'activities', 'unit': 'count', 'value': summary.activities },
            { 'figure': 'kernels', 'unit': 'count', 'value': summary.kernels },
            { 'figure': 'mean_kernel', 'unit': 'ns', 'value': summary.mean_kernel_ns },
            { 'figure': 'short_kernels', 'unit': 'count', 'value': summary.short_kernels },
            { 'figure': 'launches', 'unit': 'count', 'value': summary.launches },
            { 'figure': 'graph_launches', 'unit': 'count', 'value': summary.graph_launches },
            { 'figure': 'launch_call', 'unit': 'ns', 'value': summary.launch_call_ns },
            { 'figure': 'compilations', 'unit': 'count', 'value': summary.compilations },
            { 'figure': 'recompiles', 'unit': 'count', 'value': summary.recompiles },
            { 'figure': 'compile', 'unit': 'ns', 'value': summary.compile_ns },
            { 'figure': 'peak', 'unit': 'bytes', 'value': summary.peak_bytes },
            { 'figure': 'steps', 'unit': 'count', 'value': summary.steps }
        ]) AS row,
        unnest(range(1, 35)) AS position
    FROM run_summaries AS summary
)

SELECT
    listed.run_id,
    listed.rank,
    listed.device,
    listed.slowest,
    listed.slowest_of_rank,
    listed.row.figure,
    listed.row.unit,
    listed.row.value,
    listed.position BETWEEN 2 AND 15 AS part,
    listed.position
FROM listed;
