-- Meaning: Communication while nothing else ran.
-- Title: Communication without overlap
-- Short title: communication
-- Colour: exposed_communication
-- Applies to: device
-- Names: kernel
-- Path: communication
-- Path text: communication
-- Finding: Communication took {work} of {steps}; for {saved} of that, no computation ran. Waiting
--   for other ranks counts as communication.
-- Remedy: Start it earlier, so that it overlaps with computation (buckets, prefetching), send less
--   data, or balance the work of the ranks.
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
WHERE class = 'communication'
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
    step.exposed_communication_ns AS saved_ns
FROM step_metrics AS step
INNER JOIN step_parts AS part
    ON
        step.run_id = part.run_id
        AND step.source_id = part.source_id
        AND step.device_id = part.device_id
        AND step.step IS NOT DISTINCT FROM part.step
WHERE part.part = 'communication' AND part.ns > 0;
