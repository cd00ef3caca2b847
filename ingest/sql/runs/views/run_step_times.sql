-- The wall times of each run's steps on its default device, for a small chart per run.
-- One row: a run with steps.
-- Indexed: Queries over all runs read it.
--
-- run_id
-- step_times_ns  wall times in the order of the steps, ns; for more than 60 steps, they are divided
--                into 60 groups of nearly equal size, and each group has its longest wall time
WITH
numbered AS (
    SELECT
        step.run_id,
        step.wall_ns,
        row_number() OVER (
            PARTITION BY step.run_id ORDER BY step.start_ns, step.source_id, step.step
        ) - 1 AS ordinal,
        count(*) OVER (PARTITION BY step.run_id) AS steps
    FROM step_metrics AS step
    INNER JOIN run_metrics AS shown USING (run_id, device_id)
    WHERE shown.is_default AND step.step IS NOT NULL
),

longest AS (
    SELECT
        run_id,
        ordinal * least(steps, 60) // steps AS step_group,
        max(wall_ns) AS wall_ns
    FROM numbered
    GROUP BY run_id, step_group
)

SELECT run_id, list(wall_ns ORDER BY step_group) AS step_times_ns
FROM longest
GROUP BY run_id;
