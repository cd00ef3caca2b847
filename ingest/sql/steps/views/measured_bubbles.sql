-- The gaps of a device that count in `run_totals`: those in its measured time.
-- One row: a gap, as in `bubbles`, cut where the measured time begins and ends.
--
-- run_id, device_id, rank, device
-- start_ns         Unix time at which the device became idle, ns
-- dur_ns           length of the gap, ns
-- cause            cause of the idle time, as in `bubbles`
-- before_kernel    activity whose end began the gap
-- after_kernel     activity that ended it
-- after_kernel_id  the activity that ended it (`kernels.event_id`)
-- host_op          operator or annotation that filled most of the gap; null if none is known
-- host_frame
-- wait             for cause `sync`, the operator or call in which the host waited
-- wait_frame
-- step             step of the activity that ended it (`steps.step`)
-- is_median        whether the gap belongs to the device's median step; always true if no steps
--                  were found
SELECT
    gap.run_id,
    gap.device_id,
    gap.rank,
    gap.device,
    greatest(gap.start_ns, measured.start_ns) AS start_ns,
    least(gap.start_ns + gap.dur_ns, measured.end_ns)
    - greatest(gap.start_ns, measured.start_ns) AS dur_ns,
    gap.cause,
    gap.before_kernel,
    gap.after_kernel,
    gap.after_kernel_id,
    gap.host_op,
    gap.host_frame,
    gap.wait,
    gap.wait_frame,
    gap.step,
    is_median_step(measured.steps_from, measured.median_step, gap.step) AS is_median
FROM bubbles AS gap
INNER JOIN measured_windows AS measured
    ON
        gap.run_id = measured.run_id
        AND gap.source_id = measured.source_id
        AND gap.device_id = measured.device_id
        AND gap.start_ns < measured.end_ns
        AND gap.start_ns + gap.dur_ns > measured.start_ns;
