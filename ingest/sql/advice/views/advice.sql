-- What could make a run faster, with how much time that can save of the median step at most: what
-- `advice_checks` finds above a threshold, which is 1 % of the wall time of the median step and 50
-- µs.
-- One row: a piece of advice, for a device of a rank of a run; without a device, for a rank's host.
-- Start here: What could make a run faster, and by how much at most?
-- Indexed: It reads nine tables of each run.
--
-- Each bound is an upper bound. Idle time counts in one piece of advice; the time of a kernel can
-- count in two, so that the bounds do not add up.
--
-- run_id        the run
-- rank          rank of the process
-- device        number of the device; null where the host is measured
-- is_slowest    whether this device has the longest wall time of the run
-- kind          host_bound, small_kernels, recompiled, blocking, dataloader, exposed_communication,
--               exposed_copy or float_matmul, as in `advice_checks`
-- bound_ns      time that it can save of the median step at most, ns
-- idle_ns       of that, idle time, which no other advice counts, ns
-- is_reachable  whether the bound can be reached; false where it rests on the device's peak rate,
--               which no real kernel has
-- percent       the bound as a share of the wall time of the median step, 0 to 100
-- finding       what was found, in a sentence
-- remedy        what to try
-- cause         cause of the bubbles that it is about, as in `bubbles`; null where it is about
--               others
-- kernel        kernel that has the most of it; null where it is not about kernels
-- op            operator that has the most of it; null where it is not about operators
SELECT * EXCLUDE (is_advice, wall_ns, unknown_reason)
FROM advice_checks
WHERE is_advice;
