-- The work of a run in time, on the device and on the host: what timelines of two runs draw.
-- One row: a device activity, or an outermost operator on the host.
--
-- run_id        the run
-- rank          rank of the process
-- device        number of the device; null on the host
-- measure       device or host
-- step          step that launched it, or around it on the host (`steps.step`)
-- lane          `stream N`, on the host `thread N`
-- class         compute, communication or copy; on the host compute for an operator, else
--               dataloader or compile, as causes of `bubbles`
-- start_ns      Unix time, ns
-- end_ns        Unix time of its end, ns
-- dur_ns        its length, ns
-- name          kernel, copy or set; on the host the operator
-- op            outermost operator around the launch; on the host, the same as `name`
-- module        path of nn.Modules around an operator on the host, where known
-- work_item_id  the work item it is part of (`compared_work_items.work_item_id`)
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
    top_op AS op,
    NULL::VARCHAR AS module,
    coalesce(top_op_id, event_id) AS work_item_id
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
