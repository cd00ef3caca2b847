-- The measured steps of two runs, to look at one of each: `compared_steps(base, other, rank :=
-- NULL)`. Of each run the device counts that `compared_runs` names.
-- One row: a step of one side; of a run without steps, its whole recording.
--
-- side         base or other
-- run_id       the run
-- rank         rank of the process
-- device       number of the device; null where the run has none
-- measure      device or host, as in `compared_runs`
-- steps_from   how the steps were found, as in `steps`; run for a whole recording
-- ordinal      place among the side's steps, in time, from 1
-- step         number of the step (`steps.step`); null for a whole recording
-- start_ns     Unix time at which it began, ns
-- dur_ns       its length on the host, ns
-- wall_ns      its wall time, as in `step_metrics`, ns
-- work_end_ns  Unix time of its end, or of the end of what it launched on the device if that is
--              later, ns
-- is_median    whether it is the side's median step, as in `step_metrics`
CREATE MACRO compared_steps(base, other, rank := NULL) AS TABLE
    WITH found AS (
        SELECT
            sides.* EXCLUDE (source_id, step),
            step.source_id,
            step.step,
            step.is_median,
            step.start_ns,
            step.dur_ns,
            step.wall_ns,
            if(sides.measure = 'device', step.work_end_ns, step.start_ns + step.dur_ns)
                AS work_end_ns
        FROM compared_runs(base, other, rank := rank) AS sides
        INNER JOIN step_metrics AS step
            ON
                sides.run_id = step.run_id
                AND sides.rank = step.rank
                AND sides.device IS NOT DISTINCT FROM step.device
        WHERE step.run_id IN (base, other) AND step.start_ns IS NOT NULL
    )

    SELECT
        found.side,
        found.run_id,
        found.rank,
        found.device,
        found.measure,
        found.steps_from,
        row_number() OVER (
            PARTITION BY found.side ORDER BY found.start_ns, found.source_id
        ) AS ordinal,
        found.step,
        found.start_ns,
        found.dur_ns,
        found.wall_ns,
        found.work_end_ns,
        -- Of several whole recordings the first.
        found.is_median AND (found.step IS NOT NULL OR ordinal = 1) AS is_median
    FROM found;
