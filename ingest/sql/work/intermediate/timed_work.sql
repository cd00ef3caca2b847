-- Time of device activities, without communication, by the operator whose work they do; in a run
-- without a device, time of the operators with known work on the host.
-- One row: an operator with known work in a step and a stage, on a device; or what belongs to no
-- such operator in a step and a stage.
-- Materialised: several relations read it.
--
-- The work of an operator counts once, in the row with the most time (`has_work`).
WITH
names AS (
    SELECT
        name,
        uses_matrix_cores(name) AS is_on_matrix_cores,
        regexp_matches(name, 'HtoD|DtoH|HtoH|PtoP') AS is_leaving_device
    FROM (SELECT DISTINCT name FROM kernels)
),

timed AS (
    SELECT
        kernels.source_id,
        kernels.rank,
        kernels.device_id,
        any_value(kernels.device) AS device,
        kernels.work_op_id AS op_id,
        kernels.step,
        measured.event_id IS NOT NULL AS is_measured,
        around.call,
        around.stage,
        around.block_class,
        count(*) AS kernels,
        arg_max(kernels.event_id, (kernels.dur_ns, kernels.event_id)) AS kernel_id,
        sum(kernels.dur_ns)::BIGINT AS work_ns,
        sum(kernels.launch_dur_ns)::BIGINT AS launch_call_ns,
        bool_or(names.is_on_matrix_cores) AS is_on_matrix_cores,
        bool_or(kernels.kind = 'memcpy' AND names.is_leaving_device) AS is_leaving_device
    FROM kernels
    LEFT JOIN names ON kernels.name = names.name
    LEFT JOIN measured_activities AS measured ON kernels.event_id = measured.event_id
    LEFT JOIN stage_members AS around
        ON kernels.event_id = around.event_id AND around.kind = 'activity'
    WHERE kernels.class <> 'communication'
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        op.source_id,
        op.rank,
        device_id_of(op.rank, NULL) AS device_id,
        op.event_id AS op_id,
        op.step,
        coalesce(op.start_ns BETWEEN host.start_ns AND host.end_ns, FALSE) AS is_measured,
        around.call,
        around.stage,
        around.block_class,
        op.dur_ns AS work_ns,
        FALSE AS is_on_matrix_cores,
        FALSE AS is_leaving_device
    FROM known_work AS work
    INNER JOIN ops AS op ON work.op_id = op.event_id
    SEMI JOIN work_devices AS hosts ON work.rank = hosts.rank AND hosts.measure = 'host'
    LEFT JOIN work_windows AS host ON work.source_id = host.source_id
    LEFT JOIN stage_members AS around ON work.op_id = around.event_id AND around.kind = 'work'
)

SELECT
    timed.*,
    work.kind,
    precision_of(work.dtype, work.kind, bool_or(timed.is_on_matrix_cores) OVER of_op)
        AS precision,
    work.op_id IS NOT NULL AND row_number() OVER by_time = 1 AS has_work,
    work.flops IS NOT NULL AS has_flops,
    work.bytes IS NOT NULL AS has_bytes,
    if(has_work, work.flops, NULL) AS flops,
    if(has_work, work.bytes, NULL) AS bytes
FROM timed
LEFT JOIN known_work AS work ON timed.op_id = work.op_id
WINDOW
    of_op AS (PARTITION BY timed.op_id),
    by_time AS (
        PARTITION BY timed.op_id
        ORDER BY
            timed.work_ns DESC,
            timed.device_id,
            timed.step,
            timed.call,
            timed.stage,
            timed.block_class,
            timed.is_measured
    );
