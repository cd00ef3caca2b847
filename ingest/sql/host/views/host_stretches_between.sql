-- What the host of a rank did in a range of Unix time, with its idle time:
-- `host_stretches_between(run, of_rank, since_ns, until_ns)`. All threads are combined. Idle time
-- counts only in the measured time of the run, as in `step_parts`.
-- One row: an interval in which nothing begins or ends.
--
-- part     compute, while an operator ran; compiled_code, while a compiled graph but no operator
--          ran; otherwise a cause of idle time, as in `parts`
-- is_idle  whether `part` is a cause of idle time
-- start_ns, end_ns
-- dur_ns   duration of the interval, ns
CREATE MACRO host_stretches_between(run, of_rank, since_ns, until_ns) AS TABLE
    WITH
    work AS (
        SELECT kind, start_ns, start_ns + dur_ns AS end_ns
        FROM top_ops
        WHERE run_id = run AND rank = of_rank
        UNION ALL
        SELECT 'compiled_code' AS kind, start_ns, start_ns + dur_ns AS end_ns
        FROM events
        WHERE
            run_id = run
            AND rank = of_rank
            AND category IN ('cpu_op', 'user_annotation')
            AND is_compiled_graph(name)
    ),

    shown AS (
        SELECT
            kind,
            greatest(start_ns, since_ns::BIGINT) AS start_ns,
            least(end_ns, until_ns::BIGINT) AS end_ns
        FROM work
        WHERE start_ns < until_ns AND end_ns > since_ns
    ),

    measured AS (
        SELECT
            greatest(measured_window.start_ns, since_ns::BIGINT) AS start_ns,
            least(measured_window.end_ns, until_ns::BIGINT) AS end_ns
        FROM (
            SELECT start_ns, end_ns
            FROM measured_windows
            WHERE run_id = run AND rank = of_rank
        ) AS measured_window
        WHERE measured_window.start_ns < until_ns AND measured_window.end_ns > since_ns
    ),

    spans AS (
        SELECT
            run AS run_id,
            of_rank AS lane,
            start_ns,
            end_ns,
            (kind = 'operator')::INTEGER AS computing,
            (kind = 'compiled_code')::INTEGER AS in_compiled_code,
            (kind = 'dataloader')::INTEGER AS loading,
            (kind = 'compilation')::INTEGER AS compiling
        FROM shown
        UNION ALL BY NAME
        SELECT run AS run_id, of_rank AS lane, start_ns, end_ns FROM measured
    ),

    divided AS (
        SELECT
            CASE
                WHEN computing > 0 THEN 'compute'
                WHEN in_compiled_code > 0 THEN 'compiled_code'
                ELSE idle_cause(step_part_rules(
                    is_late := TRUE,
                    is_loading := loading > 0,
                    is_compiling := compiling > 0 AND loading = 0
                ))
            END AS part,
            start_ns,
            end_ns
        FROM swept('spans')
        WHERE end_ns IS NOT NULL
    )

    SELECT
        divided.part,
        parts.is_idle,
        divided.start_ns,
        divided.end_ns,
        divided.end_ns - divided.start_ns AS dur_ns
    FROM divided
    INNER JOIN parts ON divided.part = parts.part
    WHERE
        NOT parts.is_idle
        OR EXISTS (
            FROM measured
            WHERE divided.start_ns >= measured.start_ns AND divided.end_ns <= measured.end_ns
        );
