-- Operators whose work counts, with the kernels that they launched in the measured time, or on a
-- host in a run without a device.
-- One row: such an operator on a device. Kernels, copies and memsets without such an operator have
-- rows without a formula.
SELECT
    activity.source_id,
    activity.rank,
    activity.device_id,
    any_value(kernels.device) AS device,
    min(activity.step) AS step,
    kernels.work_op_id AS op_id,
    any_value(work.kind) AS kind,
    -- If it launched kernels on several devices, its work is on the one with the most time.
    if(row_number() OVER of_op = 1, any_value(work.flops), NULL) AS flops,
    if(row_number() OVER of_op = 1, any_value(work.bytes), NULL) AS bytes,
    precision_of(
        any_value(work.dtype), any_value(work.kind), bool_or(uses_matrix_cores(kernels.name))
    ) AS precision,
    sum(kernels.dur_ns)::BIGINT AS device_ns
FROM measured_activities AS activity
INNER JOIN kernels ON activity.event_id = kernels.event_id
LEFT JOIN op_work AS work ON kernels.work_op_id = work.op_id
WHERE kernels.class <> 'communication'
GROUP BY
    activity.source_id,
    activity.rank,
    activity.device_id,
    kernels.work_op_id,
    if(kernels.work_op_id IS NULL, activity.step, NULL)
WINDOW
    of_op AS (
        PARTITION BY kernels.work_op_id ORDER BY sum(kernels.dur_ns) DESC, activity.device_id
    )
UNION ALL BY NAME
SELECT
    work.source_id,
    work.rank,
    device_id_of(work.rank, NULL) AS device_id,
    NULL AS device,
    ops.step,
    work.op_id,
    work.kind,
    work.flops,
    work.bytes,
    precision_of(work.dtype, work.kind, FALSE) AS precision,
    ops.dur_ns AS device_ns
FROM op_work AS work
INNER JOIN ops ON work.op_id = ops.event_id
SEMI JOIN work_windows AS host
    ON work.source_id = host.source_id AND host.measure = 'host'
WHERE
    ops.step IS NOT NULL
    OR work.source_id IN (
        SELECT whole.source_id FROM steps AS whole WHERE whole.steps_from = 'run'
    );
