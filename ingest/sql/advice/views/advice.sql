-- What could make a run faster, with how much time that can save in a step at most: of what
-- `advice_checks` looks at, what is no trifle. That is, 1 % of the wall time of a step or more, and
-- 50 µs or more.
-- One row: a piece of advice, for a device of a rank of a run; without a device, for a rank's host.
--
-- Each bound is an upper bound, and two can count the same time: they do not add up.
--
-- run_id    the run
-- rank      rank of the process
-- device    number of the device; null where the host is measured
-- slowest   whether this device has the longest wall time of the run
-- kind      host_bound, small_kernels, recompiled, blocking, dataloader, exposed_communication,
--           exposed_copy or float_matmul, as in `advice_checks`
-- bound_ns  time that it can save in a step at most, ns
-- percent   that as a share of the wall time of a step, 0 to 100
-- what      what was found, in a sentence
-- remedy    what to try
-- cause     cause of the bubbles that it is about, as in `bubbles`; null where it is about others
-- kernel    kernel that has the most of it; null where it is not about kernels
-- op        operator that has the most of it; null where it is not about operators
SELECT * EXCLUDE (wall_ns, not_told)
FROM advice_checks
WHERE percent >= 1 AND bound_ns >= 50_000;
