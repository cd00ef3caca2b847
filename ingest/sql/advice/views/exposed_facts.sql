-- Part of `advice_facts`: the facts about communication and copies that nothing hides.
-- One row: the activities of a name in a step of a device, or the time of all of a class in the
-- step.
--
-- run_id, device_id, rank, device
-- step      number of the step (`steps.step`); null for time between steps, and if no steps were
--           found
-- is_median
-- class     communication or copy
-- name      name of the activities; null for the time of all
-- named_ns  sum of the durations in the step, ns; null for the time of all
-- work_ns   time of all activities of the class, ns; null for a name
-- saved_ns  time of all in which nothing hides them, as in `step_metrics`, ns; null for a name
SELECT
    run_id,
    device_id,
    kernel.rank,
    device,
    step,
    is_median,
    class,
    name,
    sum(inside_ns)::BIGINT AS named_ns,
    NULL::BIGINT AS work_ns,
    NULL::BIGINT AS saved_ns
FROM measured_kernels AS kernel
WHERE class IN ('communication', 'copy')
GROUP BY ALL
UNION ALL
SELECT
    step.run_id,
    step.device_id,
    step.rank,
    step.device,
    step.step,
    step.is_median,
    part.part AS class,
    NULL AS name,
    NULL AS named_ns,
    part.ns AS work_ns,
    if(part.part = 'copy', step.exposed_copy_ns, step.exposed_communication_ns) AS saved_ns
FROM step_metrics AS step
INNER JOIN step_parts AS part
    ON
        step.run_id = part.run_id
        AND step.source_id = part.source_id
        AND step.device_id = part.device_id
        AND step.step IS NOT DISTINCT FROM part.step
WHERE part.part IN ('communication', 'copy') AND part.ns > 0;
