-- Events with a duration, on the host or on a device.
-- One row: a complete event of an input file.
--
-- run_id, source_id, rank
-- event_id   number of the event, unique in the run: source_id × 10¹² + its position in the file
-- category   category in current names (cpu_op, kernel, cuda_runtime, …)
-- recorded_category
-- name       name as recorded
-- pid        process, or the device
-- tid        thread, or the stream
-- start_ns   Unix time of the start, ns
-- dur_ns
-- depth      number of host events around it on its thread; null on a device
-- parent_id  innermost event around it on its thread (`events.event_id`)
-- self_ns    time in which it was the innermost event of its thread, ns; null on a device
-- step       innermost step around its start (`steps.step`). A device activity has the step of its
--            launch, a `gpu_user_annotation` that of its annotation on the host
-- correlation, external_id
-- args       arguments of the event (JSON); other recorded fields without a column are under
--            `event`
SELECT
    complete.source_id,
    complete.rank,
    complete.event_id,
    complete.category,
    complete.recorded_category,
    complete.name,
    complete.pid,
    complete.tid,
    complete.start_ns,
    complete.dur_ns,
    host_nest.depth,
    host_nest.parent_id,
    host_nest.self_ns,
    coalesce(nullif(host_nest.step, -1), other_steps.step) AS step,
    complete.correlation,
    complete.external_id,
    complete.args
FROM complete
LEFT JOIN host_nest ON complete.event_id = host_nest.event_id
LEFT JOIN other_steps ON complete.event_id = other_steps.event_id;
