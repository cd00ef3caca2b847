-- Meaning: Idle time of cause `compile`, and other time of compilations in the measured steps.
-- Title: Compiled while measured
-- Short title: compilation
-- Colour: compile
-- Applies to: device, host
-- Cause: compile
-- Path: compile
-- Path text: compilation
-- Finding: {compilations} in the measured steps took {compile} in total. Recompilations:
--   {recompiles}. Reason: {name}
-- Finding: {compilations} in the measured steps took {compile} in total. Recompilations:
--   {some_recompiles} (no reason was recorded).
-- Finding: {compilations} in the measured steps took {compile} in total. Recompilations:
--   {recompiles}.
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
SELECT
    step.run_id,
    step.device_id,
    step.rank,
    step.device,
    step.step,
    step.is_median,
    -part.ns AS saved_ns
FROM step_metrics AS step
INNER JOIN step_parts AS part
    ON
        step.run_id = part.run_id
        AND step.source_id = part.source_id
        AND step.device_id = part.device_id
        AND step.step IS NOT DISTINCT FROM part.step
WHERE part.part = 'compile' AND step.kernels IS NULL;
