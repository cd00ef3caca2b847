-- Device activities with their names at each level of the rankings.
-- One row: a device activity at one level.
--
-- run_id
-- level      op (outermost operator around the launch, or around the call that a CUDA graph
--            recorded), leaf (innermost) or kernel
-- name       operator or kernel, as in `ranking`
-- device_id, rank, device
-- event_id   the activity (`kernels.event_id`)
-- owner_id   operator `name` that the activity belongs to (`ops.event_id`); null if `name` is not
--            an operator, and if a graph recorded the operator
-- evidence   how a graph's operator `name` is known: names, order or annotation, as in
--            `kernels.graph_evidence`; null if no graph recorded it, and for kernels
-- kernel     name of the kernel, copy or memset
-- class
-- launch_ns  Unix time at which the launching call began, ns; null if unknown
-- start_ns   Unix time at which the activity began, ns
-- dur_ns     length of the activity, ns
-- step       step in which the activity was launched (`steps.step`)
WITH named AS (
    SELECT
        kernels.*,
        levels.level,
        CASE levels.level
            WHEN 'op' THEN kernels.graph_top_op
            WHEN 'leaf' THEN kernels.graph_op
        END AS recorded_op,
        CASE levels.level WHEN 'op' THEN kernels.top_op WHEN 'leaf' THEN kernels.op END
            AS launching_op,
        CASE levels.level WHEN 'op' THEN kernels.top_op_id WHEN 'leaf' THEN kernels.op_id END
            AS launching_op_id
    FROM kernels
    CROSS JOIN (VALUES ('op'), ('leaf'), ('kernel')) AS levels (level)
)

SELECT
    run_id,
    level,
    CASE
        WHEN level = 'kernel' THEN name
        ELSE coalesce(
            recorded_op,
            launching_op,
            graph_label,
            CASE WHEN is_graph_launch THEN '(graph) ' || name ELSE '(no op)' END
        )
    END AS name,
    device_id,
    rank,
    device,
    event_id,
    CASE WHEN recorded_op IS NULL THEN launching_op_id END AS owner_id,
    CASE
        WHEN recorded_op IS NOT NULL THEN graph_evidence
        WHEN level <> 'kernel' AND launching_op IS NULL AND graph_label IS NOT NULL
            THEN 'annotation'
    END AS evidence,
    name AS kernel,
    class,
    launch_ns,
    start_ns,
    dur_ns,
    step
FROM named;
