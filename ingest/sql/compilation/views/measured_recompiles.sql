-- Runs in which torch compiled again what it had compiled, while it was measured.
-- One row: such a run.
--
-- run_id      the run
-- recompiles  compilations of that kind, over all ranks
-- dur_ns      time spent on them, ns
-- reasons     why, each reason once, the one that cost most first; empty where no file tells
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
