-- Meaning: Idle time of cause `compile`, and other time of compilations in the measured steps.
-- Title: Compiled while measured
-- Short title: compilation
-- Colour: compile
-- Applies to: device, host
-- Cause: compile
-- Path: compile
-- Path text: compilation
-- Finding in any case: {compilations} in the measured steps took {compile} in total.
--   Recompilations: {recompiles}. Reason: {name}
-- Finding in any case: {compilations} in the measured steps took {compile} in total.
--   Recompilations: {some_recompiles} (no reason was recorded).
-- Finding in any case: {compilations} in the measured steps took {compile} in total.
--   Recompilations: {recompiles}.
-- Finding: The device was idle for {idle} of {steps} while the host compiled.
-- Evidence: compilations
-- Evidence of: compile_id, compiled_frame, is_recompile, dur_ns, reason, evidence
-- Evidence order: dur_ns DESC NULLS LAST, compile_id
SELECT  -- noqa: AM07
    step.run_id,
    step.device_id,
    step.rank,
    step.device,
    step.step,
    step.is_median,
    found.reason AS name,
    least(found.start_ns + found.dur_ns, step.start_ns + step.range_ns)
    - greatest(found.start_ns, step.start_ns) AS work_ns,
    -- On a host, compilation can also take time outside idle time of cause `compile`.
    if(step.kernels IS NULL, work_ns, NULL) AS saved_ns,
    found.dur_ns AS named_ns
FROM step_metrics AS step
INNER JOIN compilations AS found
    ON
        step.run_id = found.run_id
        AND step.rank = found.rank
        AND found.start_ns < step.start_ns + step.range_ns
        AND found.start_ns + found.dur_ns > step.start_ns
UNION ALL BY NAME
SELECT run_id, device_id, rank, device, step, is_median, -ns AS saved_ns
FROM measured_parts
WHERE part = 'compile' AND is_host;
