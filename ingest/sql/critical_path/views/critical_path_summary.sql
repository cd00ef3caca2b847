-- The time on the critical path of each step by kind and by name, and how much earlier the step
-- would end without each. Each level divides the complete path.
-- One row: a kind of interval, or a name, on the critical path of a step.
--
-- run_id, source_id, rank
-- step        number of the step (`steps.step`); null if no steps were found
-- is_median   whether the step is the median step of one of the rank's devices; always true if no
--             steps were found
-- level       level of the name: kind; call (innermost span of the host); op (innermost cpu_op
--             around it, or around the launch); kernel (device activity, with the waits right
--             before it); or module
-- name        the kind, or the name of the call, operator, kernel or module; null for the rest of
--             the path
-- stretches   number of intervals on the path
-- on_path_ns  time on the path, ns
-- percent     share of the path, 0 to 100
-- gain_ns     how much earlier the step's work would end if this took no time, ns; known for all
--             kinds, and for the 8 names of a level with the most time on the path
WITH
named AS (
    SELECT
        paths.run_id,
        paths.source_id,
        paths.rank,
        paths.step,
        paths.is_median,
        levels.level,
        CASE levels.level
            WHEN 'kind' THEN paths.kind
            WHEN 'call' THEN if(paths.side = 'host', paths.name, NULL)
            WHEN 'kernel' THEN if(paths.side = 'device', paths.name, NULL)
            WHEN 'op' THEN paths.op
            ELSE paths.module
        END AS name,
        paths.dur_ns
    FROM critical_paths AS paths
    CROSS JOIN (VALUES ('kind'), ('call'), ('op'), ('kernel'), ('module')) AS levels (level)
),

sums AS (
    SELECT
        run_id,
        source_id,
        rank,
        step,
        is_median,
        level,
        name,
        count(*) AS stretches,
        sum(dur_ns)::BIGINT AS on_path_ns,
        100.0 * sum(dur_ns) / sum(sum(dur_ns)) OVER complete_path AS percent
    FROM named
    GROUP BY run_id, source_id, rank, step, is_median, level, name
    WINDOW complete_path AS (PARTITION BY run_id, source_id, step, level)
)

SELECT sums.*, gains.gain_ns
FROM sums
LEFT JOIN critical_path_gains AS gains
    ON
        sums.run_id = gains.run_id
        AND sums.source_id = gains.source_id
        AND sums.step IS NOT DISTINCT FROM gains.step
        AND sums.level = gains.level
        AND sums.name = gains.name;
