-- Meaning: Communication while nothing else ran, without waiting for other ranks if it is known.
-- Title: Communication without overlap
-- Short title: communication
-- Colour: exposed_communication
-- Applies to: device
-- Names: kernel
-- Path: communication
-- Path text: communication
-- Finding: Communication took {work} of {steps}; for {saved_part} of that, no computation ran.
--   Apart from that, waiting for other ranks took {waiting}.
-- Finding: Communication took {work} of {steps}, and no computation ran meanwhile. Apart from that,
--   waiting for other ranks took {waiting}.
-- Finding: Communication took {work} of {steps}; for {saved_part} of that, no computation ran.
--   Waiting for other ranks counts as communication.
-- Finding: Communication took {work} of {steps}, and no computation ran meanwhile. Waiting for
--   other ranks counts as communication.
-- Remedy: Start it earlier, so that it overlaps with computation (buckets, prefetching), send less
--   data, or balance the work of the ranks.
SELECT *, inside_ns AS named_ns  -- noqa: AM07
FROM measured_kernels
WHERE class = 'communication'
UNION ALL BY NAME
SELECT
    part.*,
    coalesce(moved.transfer_ns, part.ns) AS work_ns,
    coalesce(moved.exposed_transfer_ns, part.exposed_ns) AS saved_ns,
    moved.waiting_ns
FROM measured_parts AS part
LEFT JOIN exposed_transfers AS moved
    ON
        part.run_id = moved.run_id
        AND part.source_id = moved.source_id
        AND part.device_id = moved.device_id
        AND part.step IS NOT DISTINCT FROM moved.step
WHERE part.part = 'communication' AND part.ns > 0;
