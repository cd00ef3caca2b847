-- The Python code that launches a kernel: `kernel_lines(run, of_kernel, from_step, to_step)`. Both
-- bounds are included. A null bound leaves the range open on that side; if both are null, it covers
-- the whole recording.
-- One row: the innermost Python frame outside of torch around launches of the kernel.
--
-- rank
-- name       name of the frame: `file(line): function`; null if none was recorded
-- calls      number of kernels
-- device_ns  sum of their durations, ns
CREATE MACRO kernel_lines(run, of_kernel, from_step := NULL, to_step := NULL) AS TABLE
    WITH RECURSIVE
    calls AS MATERIALIZED (
        SELECT DISTINCT
            path_id,
            caller_path_id,
            name,
            category = 'python_function' AND is_user_frame(name) AS is_line
        FROM call_tree
        WHERE run_id = run AND path_id IS NOT NULL
    ),

    launching AS (
        SELECT
            rank,
            path_id,
            sum(activities)::BIGINT AS calls,
            sum(device_ns)::BIGINT AS device_ns
        FROM launched_kernels
        WHERE run_id = run AND name = of_kernel AND in_steps(step, from_step, to_step)
        GROUP BY rank, path_id
    ),

    -- Go outwards from the launch, up to the first line.
    around AS (
        SELECT
            launching.path_id,
            calls.caller_path_id,
            calls.name,
            calls.is_line
        FROM (SELECT DISTINCT path_id FROM launching) AS launching  -- ranks share paths
        INNER JOIN calls ON launching.path_id = calls.path_id
        UNION ALL
        SELECT
            around.path_id,
            calls.caller_path_id,
            calls.name,
            calls.is_line
        FROM around
        INNER JOIN calls ON around.caller_path_id = calls.path_id
        WHERE NOT around.is_line
    )

    SELECT
        launching.rank,
        around.name,
        sum(launching.calls)::BIGINT AS calls,
        sum(launching.device_ns)::BIGINT AS device_ns
    FROM launching
    LEFT JOIN around ON launching.path_id = around.path_id AND around.is_line
    GROUP BY launching.rank, around.name;
