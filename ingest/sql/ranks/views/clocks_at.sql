-- The clocks of a run's ranks at a time: `clocks_at(run, at_ns)`. The time is in Unix ns; null is
-- the middle of the collectives that set a clock.
-- One row: a rank.
--
-- rank
-- host_name       host of the rank, as in `rank_clocks`
-- reference_rank
-- ahead_ns        how far the clock is ahead of the reference clock, ns. A recorded time minus this
--                 is the time on the reference clock
-- uncertainty_ns  uncertainty of that, ns; null if unknown
-- drift_ppm       by how much the clock is faster, 10⁻⁶; null if it is not significant
CREATE MACRO clocks_at(run, at_ns) AS TABLE
    SELECT
        clock.rank,
        host_name,
        reference_rank,
        clock_offset(clock, coalesce(at_ns, middle_ns)) AS ahead_ns,
        clock_uncertainty(clock, coalesce(at_ns, middle_ns)) AS uncertainty_ns,
        drift_ppm
    FROM rank_clocks AS clock
    WHERE run_id = run
    ORDER BY clock.rank;
