-- The critical path of each step: what the step waited for in its wall time. The rows follow each
-- other without a gap. They add up to the step's wall time (`step_metrics.wall_ns`); if a rank has
-- several devices, to the time from the first of their starts to the last of their ends.
-- One row: an interval of the path of a step.
-- Materialised: a relation reads it, and its file is written from it.
--
-- run_id, source_id, rank
-- step       number of the step (`steps.step`); null if no steps were found
-- is_median  whether the step is the median step of one of the rank's devices; always true if no
--            steps were found
-- ordinal    position of the interval in the path, from 0
-- kind       kind of interval, as in `critical_path_kinds`
-- event_id   the span or device activity (`events.event_id`); null for the host's time between
--            operators
-- name       name of the span or activity
-- op_id      innermost cpu_op around the span, or around the activity's launch (`ops.event_id`)
-- op         name of the operator `op_id`
-- module     innermost nn.Module around the operator
-- side       host or device
-- device_id
-- device
-- lane       `thread N`, `stream N` or `no stream`; null between operators
-- start_ns   Unix time at which the interval begins, ns
-- dur_ns     length of the interval, ns
SELECT
    path_steps.source_id,
    sources.rank,
    path_steps.step,
    path_steps.is_median,
    edge.ordinal,
    edge.kind,
    edge.event_id,
    event.name,
    op.event_id AS op_id,
    op.name AS op,
    op.module,
    if(kernels.event_id IS NULL, 'host', 'device') AS side,
    coalesce(kernels.device_id, device_id_of(sources.rank, NULL)) AS device_id,
    kernels.device,
    if(
        kernels.event_id IS NULL,
        'thread ' || event.tid,
        coalesce('stream ' || kernels.stream, 'no stream')
    ) AS lane,
    edge.start_ns,
    edge.dur_ns
FROM path_edges AS edge
INNER JOIN path_steps ON edge.path = path_steps.path
INNER JOIN staged_sources AS sources ON path_steps.source_id = sources.source_id
LEFT JOIN complete AS event ON edge.event_id = event.event_id
LEFT JOIN kernels ON edge.event_id = kernels.event_id
LEFT JOIN ops AS op ON coalesce(edge.op_id, kernels.op_id) = op.event_id
ORDER BY path_steps.source_id, path_steps.start_ns, edge.ordinal;
