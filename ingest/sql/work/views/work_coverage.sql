-- How much of the device time of the measured steps belongs to operators whose work is known, and
-- why the rest does not. Communication is left out.
-- One row: a device and a reason, or the known part.
--
-- run_id, rank, device_id
-- reason         null for the known part. Otherwise why the floating-point operations are unknown:
--                graph_launch (a graph launched the activity), no_launch (launched before the
--                recording began), no_operator (launched outside of operators), no_shapes (the
--                operator has no shapes), no_formula (`work_formulas` does not list the operator),
--                formula (what is recorded does not determine it), inputs (a shape, type or value
--                is missing) or not_recorded (the profiler of MegEngine counted none)
-- activities     number of kernels, copies and memsets
-- device_ns      sum of their durations, ns
-- percent        share of the device time, percent
-- bytes_percent  share of the device time whose bytes are known, too, percent
WITH
named AS (
    SELECT unnest(listed_ops) AS op, any_value(flops_sql IS NOT NULL) AS has_flops
    FROM work_formulas
    GROUP BY op
),

explained AS (
    SELECT
        kernels.run_id,
        kernels.rank,
        kernels.device_id,
        kernels.dur_ns,
        CASE
            WHEN work.op_id IS NOT NULL THEN work.flops_reason
            WHEN kernels.is_graph_launch THEN 'graph_launch'
            WHEN kernels.launch_ns IS NULL AND kernels.op_id IS NULL THEN 'no_launch'
            WHEN kernels.op_id IS NULL THEN 'no_operator'
            WHEN op.input_dims IS NULL THEN 'no_shapes'
            WHEN named.has_flops THEN 'inputs'
            WHEN NOT named.has_flops THEN 'formula'
            ELSE 'no_formula'
        END AS reason,
        work.op_id IS NOT NULL AND work.bytes_reason IS NULL AS is_bytes_known
    FROM kernels
    INNER JOIN measured_kernels AS measured
        ON kernels.run_id = measured.run_id AND kernels.event_id = measured.event_id
    LEFT JOIN op_work AS work
        ON kernels.run_id = work.run_id AND kernels.work_op_id = work.op_id
    LEFT JOIN ops AS op
        ON kernels.run_id = op.run_id AND kernels.op_id = op.event_id AND work.op_id IS NULL
    LEFT JOIN named ON formula_name(op.name) = named.op
    WHERE kernels.class <> 'communication'
)

SELECT
    run_id,
    rank,
    device_id,
    reason,
    count(*) AS activities,
    sum(dur_ns)::BIGINT AS device_ns,
    100 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER of_device, 0) AS percent,
    100 * coalesce(sum(dur_ns) FILTER (WHERE is_bytes_known), 0)
    / nullif(sum(sum(dur_ns)) OVER of_device, 0) AS bytes_percent
FROM explained
GROUP BY run_id, rank, device_id, reason
WINDOW of_device AS (PARTITION BY run_id, device_id);
