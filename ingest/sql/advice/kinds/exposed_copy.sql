-- Meaning: Copies while nothing else ran.
-- Title: Copies without overlap
-- Short title: copies
-- Colour: exposed_copy
-- Applies to: device
-- Names: kernel
-- Path: copy
-- Path text: copies
-- Finding: Copies and memsets took {work} of {steps}; for {saved} of that, nothing else ran.
-- Remedy: Copy from pinned memory on a separate stream before the data is needed, or keep the data
--   on the device.
SELECT
    run_id,
    device_id,
    rank,
    device,
    step,
    is_median,
    name,
    sum(inside_ns)::BIGINT AS named_ns
FROM measured_kernels
WHERE class = 'copy'
GROUP BY ALL
UNION ALL BY NAME
SELECT
    step.run_id,
    step.device_id,
    step.rank,
    step.device,
    step.step,
    step.is_median,
    part.ns AS work_ns,
    step.exposed_copy_ns AS saved_ns
FROM step_metrics AS step
INNER JOIN step_parts AS part
    ON
        step.run_id = part.run_id
        AND step.source_id = part.source_id
        AND step.device_id = part.device_id
        AND step.step IS NOT DISTINCT FROM part.step
WHERE part.part = 'copy' AND part.ns > 0;
