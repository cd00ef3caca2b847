-- The parts of each measured step, with whether it is the median step.
-- One row: a part of a step, on a device of an input file; without a device, on its host.
--
-- run_id, source_id, device_id, rank, device
-- step        number of the step (`steps.step`); null for time between steps, and if no steps were
--             found
-- is_median
-- is_host     whether the host was measured
-- part, is_idle
-- ns          time of the part, ns; negative for an overlap
-- exposed_ns  for communication or a copy, its time without overlap, as in `step_metrics`, ns; null
--             for other parts
SELECT
    part.run_id,
    part.source_id,
    part.device_id,
    part.rank,
    part.device,
    part.step,
    step.is_median,
    step.kernels IS NULL AS is_host,
    part.part,
    part.is_idle,
    part.ns,
    CASE part.part
        WHEN 'communication' THEN step.exposed_communication_ns
        WHEN 'copy' THEN step.exposed_copy_ns
    END AS exposed_ns
FROM step_parts AS part
INNER JOIN step_metrics AS step
    ON
        part.run_id = step.run_id
        AND part.source_id = step.source_id
        AND part.device_id = step.device_id
        AND part.step IS NOT DISTINCT FROM step.step;
