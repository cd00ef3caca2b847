-- Device time by kernel name, with the device's idle time as an additional row, `bubble`.
-- One row: a kernel name, or the bubble, of one device of one rank of a run.
--
-- run_id
-- rank       rank of the process; 0 if there was only one process
-- device
-- name       name of the kernel, copy or memset; or `bubble`
-- calls      number of device activities; for the bubble, of gaps
-- device_ns  sum of the durations, ns; overlapping streams count twice
-- percent    share of the device's wall time, as in `ranking`, 0 to 100
SELECT run_id, rank, device, name, calls, device_ns, percent
FROM ranking
WHERE level = 'kernel';
