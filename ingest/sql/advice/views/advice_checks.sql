-- What the measured steps of a run are looked at for, to find what could make it faster: for each
-- kind of advice how much time it can save at most, or why that cannot be told.
-- One row: a kind of advice, for a device of a rank of a run; without a device, for a rank's host.
--
-- Each bound is an upper bound, and two can count the same time: they do not add up. Idle time can
-- go to the last; of kernels and of communication something always remains.
--
-- run_id    the run
-- rank      rank of the process
-- device    number of the device; null where the host is measured
-- slowest   whether this device has the longest wall time of the run
-- kind      host_bound: idle time in which the host was busy elsewhere; of a host, time without an
--           operator. small_kernels: kernels that took less time than their launch call, and the
--           idle time right before them, as in `short_kernels`. recompiled: compilations in the
--           measured steps. blocking: idle time after a wait for the device, as in `waits`.
--           dataloader: idle time in a data loader. exposed_communication, exposed_copy: those
--           while nothing else ran. float_matmul: matrix multiplications and convolutions of
--           float32 inputs on a device with tensor cores, as in `float_matmuls`
-- bound_ns  time that it can save in a step at most, ns; null where that cannot be told
-- wall_ns   wall time of a step, ns
-- percent   the bound as a share of it, 0 to 100
-- what      what was found, in a sentence; null where nothing was
-- remedy    what to try
-- cause     cause of the bubbles that it is about, as in `bubbles`; null where it is about others
-- kernel    kernel that has the most of it; null where it is not about kernels
-- op        operator that has the most of it; null where it is not about operators
-- not_told  why there is no bound; null where there is one
WITH checks AS (
    FROM idle_checks
    UNION ALL BY NAME
    FROM kernel_checks
)

SELECT
    checks.run_id,
    checks.rank,
    checks.device,
    summary.slowest,
    checks.kind,
    if(checks.not_told IS NULL, checks.bound_ns, NULL) AS bound_ns,
    summary.wall_ns,
    if(checks.not_told IS NULL, 100.0 * checks.bound_ns / nullif(summary.wall_ns, 0), NULL)
        AS percent,
    if(checks.not_told IS NULL AND checks.bound_ns > 0, checks.what, NULL) AS what,
    checks.remedy,
    checks.cause,
    checks.kernel,
    checks.op,
    checks.not_told
FROM checks
INNER JOIN run_metrics AS summary
    ON
        checks.run_id = summary.run_id
        AND checks.rank = summary.rank
        AND checks.device IS NOT DISTINCT FROM summary.device;
