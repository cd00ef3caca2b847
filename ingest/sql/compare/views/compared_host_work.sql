-- Part of `compared_work_items` and `kernel_diff`: the host's work in two runs that are compared:
-- `compared_host_work(base, other, rank := NULL)`.
-- One row: an outermost operator, or a call of a compiled graph, in the step of a side; none where
-- a device is compared.
--
-- side      base or other
-- run_id    the run
-- event_id  the operator or the call (`ops.event_id`)
-- name      operator, a generated kernel without the number of its graph; `compiled code` for what
--           a call took outside of operators
-- start_ns  Unix time at which it began, ns
-- ns        its own time within the step, ns
CREATE MACRO compared_host_work(base, other, rank := NULL) AS TABLE
    WITH
    windows AS (
        SELECT
            measured.side,
            measured.run_id,
            measured.source_id,
            greatest(measured.start_ns, own.start_ns) AS start_ns,
            least(measured.end_ns, own.start_ns + own.dur_ns) AS end_ns,
            (own.start_ns, -own.dur_ns, own.step) AS step_order
        FROM compared_windows(base, other, rank := rank) AS measured
        LEFT JOIN steps AS own
            ON
                measured.run_id = own.run_id
                AND measured.source_id = own.source_id
                AND measured.step = own.step
                AND own.run_id IN (base, other)
        WHERE measured.measure = 'host'
    ),

    -- Time in a step inside of the side's own is that step's.
    not_own AS (
        SELECT side, run_id, source_id, unnest([start_ns, end_ns]) AS start_ns, start_ns AS end_ns
        FROM windows
        UNION ALL
        SELECT
            windows.side,
            windows.run_id,
            windows.source_id,
            inside.start_ns,
            inside.start_ns + inside.dur_ns AS end_ns
        FROM windows
        INNER JOIN steps AS inside
            ON
                windows.run_id = inside.run_id
                AND windows.source_id = inside.source_id
                AND windows.end_ns > inside.start_ns
        WHERE
            inside.run_id IN (base, other)
            AND (inside.start_ns, -inside.dur_ns, inside.step) > windows.step_order
    ),

    stretches AS (
        SELECT
            side,
            run_id,
            source_id,
            max(end_ns) OVER (
                PARTITION BY side, source_id ORDER BY start_ns, end_ns
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS start_ns,
            start_ns AS end_ns
        FROM not_own
    ),

    graph_calls AS (
        SELECT run_id, source_id, event_id, start_ns, dur_ns
        FROM ops
        WHERE run_id IN (base, other) AND is_compiled_graph(name)
    ),

    -- What a call of a compiled graph takes outside of operators is compiled code, where the
    -- profiler does not record its kernels: the time of the call less that of operators in it.
    work AS (
        SELECT
            run_id, source_id, event_id, generated_kernel(name) AS name, start_ns, dur_ns, 1 AS sign
        FROM top_ops
        WHERE run_id IN (base, other) AND kind = 'operator'
        UNION ALL
        SELECT
            run_id, source_id, event_id, 'compiled code' AS name, start_ns, dur_ns, 1 AS sign
        FROM graph_calls
        UNION ALL
        SELECT
            run_id,
            source_id,
            parent_op_id AS event_id,
            'compiled code' AS name,
            start_ns,
            dur_ns,
            -1 AS sign
        FROM ops
        WHERE run_id IN (base, other) AND parent_op_id IN (SELECT event_id FROM graph_calls)
    )

    SELECT
        stretches.side,
        work.run_id,
        work.event_id,
        work.name,
        min(work.start_ns) AS start_ns,
        sum(work.sign * (
            least(work.start_ns + work.dur_ns, stretches.end_ns)
            - greatest(work.start_ns, stretches.start_ns)
        ))::BIGINT AS ns
    FROM stretches
    INNER JOIN work
        ON
            stretches.run_id = work.run_id
            AND stretches.source_id = work.source_id
            AND stretches.end_ns >= work.start_ns
            AND stretches.start_ns <= work.start_ns + work.dur_ns
    -- What only touches the step is not in it.
    WHERE
        stretches.end_ns > stretches.start_ns
        AND (
            work.dur_ns = 0
            OR least(work.start_ns + work.dur_ns, stretches.end_ns)
            > greatest(work.start_ns, stretches.start_ns)
        )
    GROUP BY stretches.side, work.run_id, work.event_id, work.name
    HAVING work.name <> 'compiled code' OR ns > 0;
