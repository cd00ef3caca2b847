-- The time in which each device worked for the measured steps; in a run without a device, the time
-- of its host.
-- One row: a device of an input file with measured steps.
-- Materialised: several statements read it, and planning it takes longer than reading its rows.
--
-- The window goes from the start of the first step to the end of the last one, or to the end of
-- what the steps launched.
--
-- run_id, source_id, rank, device_id, device, measure, steps_from, step_name
-- steps        number of steps
-- median_step  step of median wall time on the device (`steps.step`); null in files without it, and
--              if no steps were found
-- start_ns     Unix time at which the window begins, ns
-- end_ns       Unix time at which the window ends, ns
SELECT
    windows.source_id,
    windows.rank,
    windows.device_id,
    windows.device,
    windows.measure,
    windows.steps_from,
    windows.step_name,
    windows.steps,
    median.step AS median_step,
    windows.start_ns,
    windows.end_ns
FROM work_windows AS windows
LEFT JOIN step_metrics AS median
    ON
        windows.source_id = median.source_id
        AND windows.device_id = median.device_id
        AND median.is_median;
