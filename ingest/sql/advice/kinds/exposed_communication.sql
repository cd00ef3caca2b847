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
SELECT  -- noqa: AM07
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
SELECT run_id, device_id, rank, device, step, is_median, ns AS work_ns, exposed_ns AS saved_ns
FROM measured_parts
WHERE part = 'communication' AND ns > 0;
