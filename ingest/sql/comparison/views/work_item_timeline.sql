-- The work of a run over time, on the device and on the host, for timelines that compare two runs.
-- One row: a device activity, or an outermost operator on the host.
--
-- run_id, rank, device
-- measure       device or host
-- step          step that launched the activity, or on the host the step around the operator
--               (`steps.step`)
-- lane          `stream N`, or on the host `thread N`; `no stream` for an activity without one
-- class         compute, communication or copy; on the host compute, `dataloader` or `compile` (the
--               causes of `bubbles`)
-- start_ns      Unix time at which the work began, ns
-- end_ns        Unix time at which the work ended, ns
-- dur_ns        length of the work, ns
-- name          name of the kernel, copy or memset; on the host, of the operator
-- op            outermost operator around the launch, or around the call that a CUDA graph
--               recorded; on the host, the same as `name`
-- module        path of nn.Modules around an operator on the host; null if unknown, and on the
--               device
-- work_item_id  the work item that it is part of (`compared_work_items.work_item_id`)
SELECT
    run_id,
    rank,
    device,
    'device' AS measure,
    step,
    coalesce('stream ' || stream, 'no stream') AS lane,
    class,
    start_ns,
    start_ns + dur_ns AS end_ns,
    dur_ns,
    name,
    coalesce(graph_top_op, top_op, graph_label) AS op,
    NULL::VARCHAR AS module,
    work_item_of(graph_call_id, top_op_id, event_id) AS work_item_id
FROM kernels
UNION ALL
SELECT
    top.run_id,
    top.rank,
    NULL AS device,
    'host' AS measure,
    ops.step,
    concat('thread ', ops.tid) AS lane,
    CASE top.kind
        WHEN 'compilation' THEN 'compile'
        WHEN 'dataloader' THEN 'dataloader'
        ELSE 'compute'
    END AS class,
    top.start_ns,
    top.start_ns + top.dur_ns AS end_ns,
    top.dur_ns,
    top.name,
    top.name AS op,
    top.module,
    top.event_id AS work_item_id
FROM top_ops AS top
INNER JOIN ops ON top.run_id = ops.run_id AND top.event_id = ops.event_id;
