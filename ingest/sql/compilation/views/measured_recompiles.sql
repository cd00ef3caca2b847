-- Runs in which torch recompiled during the measured steps.
-- One row: a run with at least one such recompilation.
--
-- run_id
-- recompiles  number of recompilations in measured steps, over all ranks
-- dur_ns      time spent on recompilations in measured steps, ns
-- reasons     why torch recompiled: each reason once, the most expensive first; empty if no file
--             reports reasons
SELECT
    run_id,
    sum(recompiles)::BIGINT AS recompiles,
    sum(dur_ns)::BIGINT AS dur_ns,
    coalesce(list(reason ORDER BY dur_ns DESC, reason) FILTER (WHERE reason IS NOT NULL), [])
        AS reasons
FROM (
    SELECT run_id, reason, count(*) AS recompiles, sum(dur_ns) AS dur_ns
    FROM compilations
    WHERE is_in_measured_step AND is_recompile
    GROUP BY run_id, reason
)
GROUP BY run_id;
