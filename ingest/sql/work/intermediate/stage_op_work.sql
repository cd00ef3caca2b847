-- Operators whose work counts in a stage of a pipeline call, with the kernels that they launched,
-- or on a host in a run without a device.
-- One row: such an operator in a stage and block, on a device. Kernels, copies and memsets of
-- operators without known work have rows without a kind, one for each stage and block.
SELECT
    kernels.source_id,
    kernels.rank,
    kernels.device_id,
    any_value(kernels.device) AS device,
    around.call,
    around.stage,
    around.block_class,
    work.op_id,
    any_value(work.kind) AS kind,
    -- Its work counts once: on the device and in the stage with the most time.
    if(row_number() OVER of_op = 1, any_value(work.flops), NULL) AS flops,
    if(row_number() OVER of_op = 1, any_value(work.bytes), NULL) AS bytes,
    precision_of(
        any_value(work.dtype), any_value(work.kind), bool_or(uses_matrix_cores(kernels.name))
    ) AS precision,
    sum(kernels.dur_ns)::BIGINT AS device_ns
FROM stage_members AS around
INNER JOIN kernels ON around.event_id = kernels.event_id
LEFT JOIN op_work AS work ON kernels.work_op_id = work.op_id
WHERE around.kind = 'activity' AND kernels.class <> 'communication'
GROUP BY
    kernels.source_id,
    kernels.rank,
    kernels.device_id,
    around.call,
    around.stage,
    around.block_class,
    work.op_id
WINDOW
    of_op AS (
        PARTITION BY work.op_id
        ORDER BY sum(kernels.dur_ns) DESC, kernels.device_id, around.stage, around.block_class
    )
UNION ALL BY NAME
SELECT
    work.source_id,
    work.rank,
    device_id_of(work.rank, NULL) AS device_id,
    NULL AS device,
    work.pipeline_call AS call,
    work.stage,
    work.block_class,
    work.op_id,
    work.kind,
    work.flops,
    work.bytes,
    precision_of(work.dtype, work.kind, FALSE) AS precision,
    ops.dur_ns AS device_ns
FROM op_work AS work
INNER JOIN ops ON work.op_id = ops.event_id
INNER JOIN work_devices AS hosts ON work.rank = hosts.rank AND hosts.measure = 'host'
WHERE work.stage IS NOT NULL AND EXISTS (SELECT 1 FROM stage_members);
