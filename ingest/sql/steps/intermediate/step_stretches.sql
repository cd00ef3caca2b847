-- The host's time from the first measured step, divided at each change of the step.
-- One row: an interval in one step of an input file; `step` is null between steps.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH moments AS (
    SELECT source_id, step, from_ns AS start_ns FROM step_moments('steps')
    UNION ALL
    SELECT source_id, NULL AS step, min(start_ns) - 1 AS start_ns
    FROM work_windows
    GROUP BY source_id
)

SELECT
    source_id,
    step,
    start_ns,
    lead(start_ns, 1, 9223372036854775807) OVER (PARTITION BY source_id ORDER BY start_ns) AS end_ns
FROM moments;
