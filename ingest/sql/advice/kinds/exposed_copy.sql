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
SELECT *, inside_ns AS named_ns  -- noqa: AM07
FROM measured_kernels
WHERE class = 'copy'
UNION ALL BY NAME
SELECT *, ns AS work_ns, exposed_ns AS saved_ns
FROM measured_parts
WHERE part = 'copy' AND ns > 0;
