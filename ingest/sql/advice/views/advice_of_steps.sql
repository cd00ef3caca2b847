-- The checks of `advice_checks` for a range of steps: for each kind of advice, an upper bound of
-- the time saved, or why the bound is unknown: `advice_of_steps(run, from_step, to_step)`. Both
-- bounds are included. A null bound leaves the range open on that side; if both are null, it covers
-- the whole measured time. For the median step, the rows are those of `advice_checks`.
-- One row: a kind of advice, for a device of a rank; without a device, for a rank's host.
--
-- device_id, rank, device, is_default
-- kind     kind of advice, as in `advice_kinds`
-- bound_ns
-- idle_ns  idle time in the bound, which no other kind counts, ns
-- gain_ns, is_reachable, is_advice
-- wall_ns  wall time of the chosen steps, ns
-- percent  bound in percent of the wall time, 0 to 100
-- finding, remedy
-- cause    cause of the bubbles that the advice is about, as in `bubbles`; null for other advice
-- kernel   kernel with the largest share of the time; null if the advice is not about kernels
-- op       operator with the largest share of the time; null if the advice is not about operators
-- unknown_reason
CREATE MACRO advice_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    facts_of_steps AS NOT MATERIALIZED (
        SELECT *
        FROM advice_facts
        WHERE run_id = run AND in_steps(step, from_step, to_step)
    ),

    sums_of_steps AS NOT MATERIALIZED (SELECT * FROM advice_sums_of('facts_of_steps')),

    shapes_of_steps AS NOT MATERIALIZED (
        SELECT *
        FROM shape_work
        WHERE run_id = run AND in_steps(step, from_step, to_step)
    ),

    measured_steps AS NOT MATERIALIZED (
        SELECT
            run AS run_id,
            *
        FROM metrics_of_steps(run, from_step := from_step, to_step := to_step)
    )

    SELECT * EXCLUDE (run_id)
    FROM advice_of('sums_of_steps', 'shapes_of_steps', 'measured_steps');
