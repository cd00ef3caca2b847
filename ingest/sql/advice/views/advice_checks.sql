-- What the measured steps of a run are looked at for, to find what could make it faster: for each
-- kind of advice how much time it can save at most, or why that cannot be told.
-- One row: a kind of advice, for a device of a rank of a run; without a device, for a rank's host.
--
-- Each bound is an upper bound. Idle time counts once: in the kind that has the cause of the gap,
-- and of cause `launch` in `small_kernels`. The time of a kernel can count in two kinds, so that
-- the bounds do not add up.
--
-- run_id          the run
-- rank            rank of the process
-- device          number of the device; null where the host is measured
-- is_slowest      whether this device has the longest wall time of the run
-- kind            host_bound: idle time of cause `host`, in which the host was busy elsewhere; of a
--                 host, time without an operator. blocking: of cause `sync`, after a wait for the
--                 device, as in `waits`. dataloader: of cause `dataloader`. recompiled: of cause
--                 `compile`, and other time of compilations in the measured steps. small_kernels:
--                 kernels that took less time than their launch call, and the idle time of cause
--                 `launch` right before them, as in `short_kernels`. exposed_communication,
--                 exposed_copy: those while nothing else ran. float_matmul: matrix multiplications
--                 and convolutions of float32 inputs on a device with tensor cores, as in
--                 `float_matmuls`, less the time that they take at the peak rate of half precision
-- bound_ns        time that it can save of the median step at most, ns; null where that cannot be
--                 told
-- idle_ns         of that, idle time, which no other kind counts, ns
-- is_reachable    whether the bound can be reached; false where it rests on the device's peak rate,
--                 which no real kernel has
-- is_advice       whether the bound is 1 % of the wall time or more, and 50 µs or more
-- wall_ns         wall time of the median step, ns
-- percent         the bound as a share of it, 0 to 100
-- finding         what was found, in a sentence; null where nothing was
-- remedy          what to try
-- cause           cause of the bubbles that it is about, as in `bubbles`; null where it is about
--                 others
-- kernel          kernel that has the most of it; null where it is not about kernels
-- op              operator that has the most of it; null where it is not about operators
-- unknown_reason  why there is no bound; null where there is one
WITH
facts_of_steps AS NOT MATERIALIZED (SELECT * FROM advice_facts WHERE is_median),

measured_steps AS NOT MATERIALIZED (
    SELECT
        *,
        if(steps_from = 'run', 'the whole recording', 'the median step') AS steps_name
    FROM run_metrics
)

SELECT * FROM advice_of('facts_of_steps', 'measured_steps');
