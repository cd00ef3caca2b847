-- The parts of each run's median step, from `step_parts`. They add up to `wall_ns` of
-- `run_metrics`.
-- One row: a part of the steps, for a device of a rank; in a run without a device, for a rank's
-- host.
-- Start here: What does the time of a step consist of?
-- Indexed: Queries over all runs read it.
-- Materialised: several statements read it, and planning it takes longer than reading its rows.
--
-- run_id, rank, device_id, device, is_default
-- is_slowest_of_rank, part
-- ordinal     order in which to show the parts, from 1
-- is_idle
-- ns          time in the median step, ns; an overlap is negative
-- total_ns    time in all steps and between them, ns
SELECT
    metrics.rank,
    metrics.device_id,
    metrics.device,
    metrics.is_default,
    metrics.is_slowest_of_rank,
    parts.part,
    any_value(parts.ordinal) AS ordinal,
    any_value(parts.is_idle) AS is_idle,
    coalesce(sum(parts.ns) FILTER (WHERE step.is_median), 0)::BIGINT AS ns,
    sum(parts.ns)::BIGINT AS total_ns
FROM step_parts AS parts
INNER JOIN step_metrics AS step
    ON
        parts.source_id = step.source_id
        AND parts.device_id = step.device_id
        AND parts.step IS NOT DISTINCT FROM step.step
INNER JOIN run_metrics AS metrics ON parts.device_id = metrics.device_id
GROUP BY ALL
ORDER BY metrics.rank, metrics.device, ordinal;
