-- The time ranges for which critical paths are found: the wall time of each step of each rank. In a
-- run without steps, it is the recording.
-- One row: a step of an input file.
-- Materialised: several relations read it.
--
-- `path` is the number of the row. `main_lane` is the thread that began the step: the thread of an
-- annotation with the step's start and length; null if there is none.
WITH spans AS (
    SELECT
        source_id,
        step,
        bool_or(is_median) AS is_median,
        min(work_start_ns) AS start_ns,
        max(work_end_ns) AS end_ns
    FROM step_metrics
    WHERE work_end_ns > work_start_ns
    GROUP BY source_id, step
)

SELECT
    row_number() OVER (ORDER BY spans.source_id, spans.start_ns, spans.step) - 1 AS path,
    spans.source_id,
    spans.step,
    spans.is_median,
    spans.start_ns,
    spans.end_ns,
    (
        SELECT min(complete.lane)
        FROM steps
        INNER JOIN complete USING (source_id, start_ns, dur_ns)
        WHERE
            steps.source_id = spans.source_id
            AND steps.step = spans.step
            AND complete.category IN ('user_annotation', 'python_function')
    ) AS main_lane
FROM spans
WHERE spans.end_ns > spans.start_ns;
