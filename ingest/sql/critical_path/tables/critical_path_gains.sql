-- How much earlier a step would end if something on its critical path took no time. The path is
-- found again without it, so it can take another way. Names with little time on the path are
-- omitted.
-- One row: a kind of interval, or a name, on the critical path of a step.
--
-- run_id, source_id, rank
-- step     number of the step (`steps.step`); null if no steps were found
-- level    level of the name: kind, call, op, kernel or module, as in `critical_path_summary`
-- name     the kind, or the name of the call, operator, kernel or module
-- gain_ns  how much earlier the step's work would end, ns
WITH labels AS (
    SELECT DISTINCT hash(name) AS label, name FROM path_labels
)

SELECT
    path_steps.source_id,
    sources.rank,
    path_steps.step,
    gain.level,
    coalesce(gain.kind, labels.name) AS name,
    gain.gain_ns
FROM path_gains AS gain
INNER JOIN path_steps ON gain.path = path_steps.path
INNER JOIN staged_sources AS sources ON path_steps.source_id = sources.source_id
LEFT JOIN labels ON gain.label = labels.label
ORDER BY path_steps.source_id, path_steps.start_ns, gain.level, gain.gain_ns DESC, name;
