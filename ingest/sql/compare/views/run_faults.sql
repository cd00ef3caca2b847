-- Part of `comparability`: what makes the metrics of a run doubtful: damaged files, compilation in
-- the measured steps, and steps that vary or are few.
-- One row: a fault of a run.
--
-- run_id   the run
-- subject  code of the fault: damaged files, compiled while measured, waited for compilation or
--          unsteady steps, as `is_steady` of `run_metrics` says
-- value    the files, the extent of the compilation, or the steps
WITH
-- No join: DuckDB would read the files of all runs to answer for one.
measured AS (
    SELECT
        run_id,
        if(is_slowest_of_rank, compilations, NULL) AS compilations,
        if(is_slowest_of_rank, recompiles, NULL) AS recompiles,
        NULL AS wait_ns,
        CASE
            WHEN NOT is_slowest OR coalesce(is_steady, TRUE) THEN NULL
            WHEN steps < 3 THEN format('{:,} step{}', steps, if(steps = 1, '', 's'))
            ELSE format(
                '{:.3g} to {:.3g} ms in the middle half of {:,} steps',
                q1_wall_ns / 1e6,
                q3_wall_ns / 1e6,
                steps
            )
        END AS unsteady
    FROM run_metrics
    UNION ALL
    SELECT
        run_id,
        NULL AS compilations,
        NULL AS recompiles,
        total_ns AS wait_ns,
        NULL AS unsteady
    FROM run_parts
    WHERE part = 'compile'
),

totals AS (
    SELECT
        run_id,
        coalesce(sum(compilations), 0) AS compilations,
        sum(recompiles) AS recompiles,
        max(wait_ns) AS wait_ns,
        any_value(unsteady) AS unsteady
    FROM measured
    GROUP BY run_id
),

faults AS (
    SELECT
        run_id,
        if(compilations > 0, concat(compilations, ', ', recompiles, ' of them again'), NULL)
            AS compiled,
        if(compilations = 0 AND wait_ns > 0, concat(round(wait_ns / 1e6, 1), ' ms'), NULL)
            AS waited,
        unsteady
    FROM totals
)

SELECT run_id, subject, value
FROM faults UNPIVOT (
    value FOR subject IN (
        compiled AS 'compiled while measured', -- noqa: RF05
        waited AS 'waited for compilation', -- noqa: RF05
        unsteady AS 'unsteady steps' -- noqa: RF05
    )
)
UNION ALL
SELECT
    run_id,
    'damaged files' AS subject,
    string_agg(concat(status, ': ', path), '; ' ORDER BY source_id) AS value
FROM sources
WHERE status IN ('truncated', 'failed')
GROUP BY run_id;
