-- What the time on the critical path of each step went to, and what each would gain the step if it
-- took no time. Each level divides the whole path.
-- One row: a kind, or a name, on the critical path of a step.
--
-- run_id      the run
-- source_id   the input file
-- rank        rank of the process
-- step        number of the step (`steps.step`); null where no steps were found
-- is_median   whether it is the median step of one of the rank's devices; always true without steps
-- level       kind; call (innermost span of the host), op (innermost cpu_op around it, or around
--             the launch), kernel (device activity, with the waits right before it) or module
-- name        the kind, or the name; null for the rest of the path
-- stretches   how often it is on the path
-- on_path_ns  time on the path, ns
-- percent     of the path, 0 to 100
-- gain_ns     by how much earlier the step's work would end if it took no time, ns; known only in
--             median steps, for all kinds and the 8 names of a level with most time on the path
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
        100.0 * sum(dur_ns) / sum(sum(dur_ns)) OVER whole AS percent
    FROM named
    GROUP BY run_id, source_id, rank, step, is_median, level, name
    WINDOW whole AS (PARTITION BY run_id, source_id, step, level)
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
