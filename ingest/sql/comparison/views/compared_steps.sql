-- The measured steps of two runs, to choose one of each for a comparison: `compared_steps(base,
-- other, rank := NULL)`. It uses the same device of each run as `compared_runs`.
-- One row: a step of one side; for a run without steps, its whole recording.
--
-- side, run_id, device_id, rank
-- device         number of the device; null if the run has no device
-- measure        device or host, as in `compared_runs`
-- steps_from     how the steps were found, as in `steps`; `run` for a whole recording
-- ordinal        number of the step among the steps of its side, in time order, from 1
-- step           number of the step (`steps.step`); null for a whole recording
-- start_ns       Unix time at which the step began, ns
-- range_ns       length of the step on the host, ns
-- wall_ns        wall time of the step, as in `step_metrics`, ns
-- work_start_ns  Unix time at which the wall time begins, as in `step_metrics`, ns
-- work_end_ns    Unix time at which the step ended, or the work that it launched on the device if
--                that ended later, ns
-- is_median      whether this is the side's median step, as in `step_metrics`
CREATE MACRO compared_steps(base, other, rank := NULL) AS TABLE
    WITH found AS (
        SELECT
            sides.* EXCLUDE (source_id, step),
            step.source_id,
            step.step,
            step.is_median,
            step.start_ns,
            step.range_ns,
            step.wall_ns,
            if(sides.measure = 'device', step.work_start_ns, step.start_ns) AS work_start_ns,
            if(sides.measure = 'device', step.work_end_ns, step.start_ns + step.range_ns)
                AS work_end_ns
        FROM compared_runs(base, other, rank := rank) AS sides
        INNER JOIN step_metrics AS step
            ON sides.run_id = step.run_id AND sides.device_id = step.device_id
        WHERE step.run_id IN (base, other) AND step.start_ns IS NOT NULL
    )

    SELECT
        found.side,
        found.run_id,
        found.device_id,
        found.rank,
        found.device,
        found.measure,
        found.steps_from,
        row_number() OVER (
            PARTITION BY found.side ORDER BY found.start_ns, found.source_id
        ) AS ordinal,
        found.step,
        found.start_ns,
        found.range_ns,
        found.wall_ns,
        found.work_start_ns,
        found.work_end_ns,
        -- If there are several whole recordings, take the first.
        found.is_median AND (found.step IS NOT NULL OR ordinal = 1) AS is_median
    FROM found;
