-- The ranks that the critical path of a step passes, as `group_critical_paths` describes it.
-- One row: a stretch of the path on one rank. The stretches of a step follow each other without a
-- gap, from the start of the step on the first rank to the last end of all ranks.
--
-- run_id
-- reference_rank
-- step          number of the step (`steps.step`); null if no steps were found
-- cycle         cycle of the profiler in which it was recorded, from 1
-- is_median     whether the path has the median length of all steps (of the two middle ones, the
--               shorter; of equal ones, the first)
-- ranks         number of ranks with this step and this reference, which can be compared
-- ordinal       position of the stretch in the path, from 0
-- source_id, rank
-- start_ns      Unix time at which the stretch begins, on the reference clock, ns
-- dur_ns        length of the stretch, ns
-- waited_in_id  the call in which the rank waited until the rank before it in the path came
--               (`collectives.collective_id`); null in the first stretch
WITH RECURSIVE
windows AS (
    SELECT
        path_steps.path,
        path_steps.source_id,
        path_steps.step,
        coalesce(files.cycle, 1) AS cycle,
        clocks.rank,
        clocks.reference_rank,
        path_steps.start_ns - clock_offset(clocks, path_steps.start_ns) AS start_ns,
        path_steps.end_ns - clock_offset(clocks, path_steps.end_ns) AS end_ns
    FROM path_steps
    INNER JOIN staged_sources AS sources ON path_steps.source_id = sources.source_id
    INNER JOIN rank_clocks AS clocks ON sources.rank = clocks.rank
    LEFT JOIN staged_files AS files ON path_steps.source_id = files.source_id
),

lasts AS (
    SELECT
        arg_max(path, (end_ns, -rank)) AS path,
        max(end_ns) AS end_ns,
        count(DISTINCT rank) AS ranks
    FROM windows
    GROUP BY reference_rank, step, cycle
),

-- The ends of stretches: the last end, and all times at which a rank came last.
ends AS (
    SELECT path, end_ns FROM lasts
    UNION
    SELECT to_path AS path, at_ns AS end_ns FROM group_path_jumps
),

stretches AS (
    SELECT
        ends.path,
        ends.end_ns,
        coalesce(jumps.at_ns, windows.start_ns) AS start_ns,
        jumps.to_path AS before_path,
        jumps.collective_id AS waited_in_id
    FROM ends
    INNER JOIN windows ON ends.path = windows.path
    ASOF LEFT JOIN group_path_jumps AS jumps
        ON ends.path = jumps.path AND ends.end_ns > jumps.at_ns
),

-- Backward, from the last end.
walk AS (
    SELECT lasts.path AS last_path, lasts.ranks, stretches.*
    FROM lasts
    INNER JOIN stretches ON lasts.path = stretches.path AND lasts.end_ns = stretches.end_ns
    UNION ALL
    SELECT walk.last_path, walk.ranks, stretches.*
    FROM walk
    INNER JOIN stretches
        ON walk.before_path = stretches.path AND walk.start_ns = stretches.end_ns
),

lengths AS (
    SELECT
        walk.last_path,
        max(walk.end_ns) - min(walk.start_ns) AS path_ns,
        row_number() OVER (
            PARTITION BY any_value(windows.reference_rank)
            ORDER BY path_ns, any_value(windows.step), walk.last_path
        ) AS place,
        count(*) OVER (PARTITION BY any_value(windows.reference_rank)) AS paths
    FROM walk
    INNER JOIN windows ON walk.last_path = windows.path
    GROUP BY walk.last_path
)

SELECT
    windows.reference_rank,
    windows.step,
    windows.cycle,
    lengths.place = (lengths.paths + 1) // 2 AS is_median,
    walk.ranks,
    row_number() OVER (PARTITION BY walk.last_path ORDER BY walk.start_ns) - 1 AS ordinal,
    windows.source_id,
    windows.rank,
    walk.start_ns,
    walk.end_ns - walk.start_ns AS dur_ns,
    walk.waited_in_id
FROM walk
INNER JOIN windows ON walk.path = windows.path
INNER JOIN lengths ON walk.last_path = lengths.last_path
ORDER BY windows.reference_rank, windows.cycle, windows.step, ordinal;
