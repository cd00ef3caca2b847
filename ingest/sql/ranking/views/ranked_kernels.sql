-- Device activities with their names at each level of the rankings.
-- One row: a device activity at one level.
--
-- run_id     the run
-- level      op (outermost operator around the launch), leaf (innermost) or kernel
-- name       operator or kernel, as in `ranking`
-- rank       rank of the process
-- device     number of the device
-- event_id   the activity (`kernels.event_id`)
-- owner_id   operator `name` that the activity belongs to (`ops.event_id`); null if `name` is not
--            an operator
-- kernel     name of the kernel, copy or memset
-- class      compute, communication or copy
-- launch_ns  Unix time at which the launching call began, ns; null if unknown
-- start_ns   Unix time at which the activity began, ns
-- dur_ns     length of the activity, ns
-- step       step in which the activity was launched (`steps.step`)
SELECT
    kernels.run_id,
    levels.level,
    CASE
        WHEN levels.level = 'kernel' THEN kernels.name
        WHEN levels.level = 'op' AND kernels.graph_top_op IS NOT NULL THEN kernels.graph_top_op
        WHEN levels.level = 'leaf' AND kernels.graph_op IS NOT NULL THEN kernels.graph_op
        WHEN levels.level = 'op' AND kernels.top_op IS NOT NULL THEN kernels.top_op
        WHEN levels.level = 'leaf' AND kernels.op IS NOT NULL THEN kernels.op
        WHEN levels.level <> 'kernel' AND kernels.graph_label IS NOT NULL THEN kernels.graph_label
        WHEN kernels.is_graph_launch THEN '(graph) ' || kernels.name
        ELSE '(no op)'
    END AS name,
    kernels.rank,
    kernels.device,
    kernels.event_id,
    CASE levels.level WHEN 'op' THEN kernels.top_op_id WHEN 'leaf' THEN kernels.op_id END
        AS owner_id,
    kernels.name AS kernel,
    kernels.class,
    kernels.launch_ns,
    kernels.start_ns,
    kernels.dur_ns,
    kernels.step
FROM kernels
CROSS JOIN (VALUES ('op'), ('leaf'), ('kernel')) AS levels (level);
