-- Device time by innermost operator, with the device's idle time as one more row, `bubble`.
-- One row: an operator, or the bubble, of one device of one rank of a run.
--
-- run_id     the run
-- rank       rank of the process; 0 when there was one
-- device     number of the device
-- name       innermost operator around the launch; or `(graph) <kernel>`, `(no op)`, `bubble`
-- calls      device activities; for the bubble, gaps
-- device_ns  sum of durations, ns; streams that overlap count twice
-- percent    of the device's span, 0 to 100
SELECT run_id, rank, device, name, calls, device_ns, percent
FROM ranking
WHERE level = 'leaf';
