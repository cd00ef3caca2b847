-- Device time by operator, with the device's idle time as an additional row, `bubble`.
-- One row: an operator, or the bubble, of one device of one rank of a run.
-- Start here: Which operators take the device's time?
--
-- run_id
-- rank       rank of the process; 0 if there was only one process
-- device
-- name       outermost operator around the launch that is not a wrapper, or around the call that a
--            CUDA graph recorded; or `(graph) <kernel>`, `(no op)`, `bubble`
-- op         former name of column `name`; use `name` instead
-- calls      number of device activities; for the bubble, of gaps
-- device_ns  sum of the durations, ns; overlapping streams count twice
-- percent    share of the device's wall time, as in `ranking`, 0 to 100
SELECT run_id, rank, device, name, name AS op, calls, device_ns, percent
FROM ranking
WHERE level = 'op';
