-- What the steps from one to another are looked at for, to find what could make them faster:
-- `advice_of_steps(run, from_step, to_step)`. Both steps are included. Without a bound, the range
-- is open on that side; without both, it covers the whole measured time. Of the median step, these
-- are the run's rows of `advice_checks`.
-- One row: a kind of advice, for a device of a rank; without a device, for a rank's host.
--
-- rank            rank of the process
-- device          number of the device; null where the host is measured
-- is_slowest      whether this device has the longest median step of the run
-- kind            kind of advice, as in `advice_checks`
-- bound_ns        time that it can save of these steps at most, ns; null where that cannot be told
-- idle_ns         of that, idle time, which no other kind counts, ns
-- is_reachable    whether the bound can be reached; false where it rests on the device's peak rate,
--                 which no real kernel has
-- is_advice       whether the bound is 1 % of the wall time or more, and 50 µs or more
-- wall_ns         wall time of these steps, ns
-- percent         the bound as a share of it, 0 to 100
-- finding         what was found, in a sentence; null where nothing was
-- remedy          what to try
-- cause           cause of the bubbles that it is about, as in `bubbles`; null where it is about
--                 others
-- kernel          kernel that has the most of it; null where it is not about kernels
-- op              operator that has the most of it; null where it is not about operators
-- unknown_reason  why there is no bound; null where there is one
CREATE MACRO advice_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    facts_of_steps AS NOT MATERIALIZED (
        SELECT *
        FROM advice_facts
        WHERE run_id = run AND in_steps(step, from_step, to_step)
    ),

    measured_steps AS NOT MATERIALIZED (
        SELECT
            run AS run_id,
            *
        FROM metrics_of_steps(run, from_step := from_step, to_step := to_step)
    )

    SELECT * EXCLUDE (run_id)
    FROM advice_of('facts_of_steps', 'measured_steps');
