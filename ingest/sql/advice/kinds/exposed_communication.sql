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
SELECT *, inside_ns AS named_ns  -- noqa: AM07
FROM measured_kernels
WHERE class = 'communication'
UNION ALL BY NAME
SELECT *, ns AS work_ns, exposed_ns AS saved_ns
FROM measured_parts
WHERE part = 'communication' AND ns > 0;
