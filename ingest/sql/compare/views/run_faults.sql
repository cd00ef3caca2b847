-- Part of `comparability`: what makes the metrics of a run doubtful: damaged files, compilation in
-- the measured steps, and steps that vary or are few.
-- One row: a fault of a run.
--
-- run_id   the run
-- subject  code of the fault: damaged files, compiled while measured, waited for compilation or
--          unsteady steps, as `is_steady` of `run_metrics` says
-- value    the files, the extent of the compilation, or the steps
WITH
damage AS (
    SELECT
        run_id,
        string_agg(concat(status, ': ', path), '; ' ORDER BY source_id) AS files
    FROM sources
    WHERE status IN ('truncated', 'failed')
    GROUP BY run_id
),

-- No join: DuckDB would read the files of all runs to answer for one.
compilation AS (
    SELECT
        run_id,
        coalesce(max(compilations), 0) AS compilations,
        max(recompiles) AS recompiles,
        max(wait_ns) AS wait_ns
    FROM (
        SELECT run_id, compilations, recompiles, NULL AS wait_ns
        FROM run_overview
        WHERE compilations > 0
        UNION ALL
        SELECT run_id, NULL AS compilations, NULL AS recompiles, total_ns AS wait_ns
        FROM run_parts
        WHERE part = 'compile' AND total_ns > 0
    )
    GROUP BY run_id
)

SELECT run_id, 'damaged files' AS subject, files AS value
FROM damage
UNION ALL
SELECT
    run_id,
    CASE
        WHEN compilations = 0 THEN 'waited for compilation'
        ELSE 'compiled while measured'
    END AS subject,
    if(
        compilations = 0,
        concat(round(wait_ns / 1e6, 1), ' ms'),
        concat(compilations, ', ', recompiles, ' of them again')
    ) AS value
FROM compilation
UNION ALL
SELECT
    run_id,
    'unsteady steps' AS subject,
    if(
        steps < 3,
        format('{:,} step{}', steps, if(steps = 1, '', 's')),
        format(
            '{:.3g} to {:.3g} ms in the middle half of {:,} steps',
            q1_wall_ns / 1e6,
            q3_wall_ns / 1e6,
            steps
        )
    ) AS value
FROM run_metrics
WHERE is_slowest AND NOT is_steady;
