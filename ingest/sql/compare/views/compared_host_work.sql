-- Part of `compared_work_items` and `kernel_diff`: the host's work in two runs that are compared:
-- `compared_host_work(base, other, rank := NULL, nth_step := NULL)`. Time in an inner step belongs
-- to the inner step, as in `step_parts`. A call of a compiled graph counts only while no operator
-- runs on any thread; where calls overlap, the time belongs to the one that began first.
-- One row: an outermost operator, or a call of a compiled graph, in the step or recording of a
-- side; none where a device is compared.
--
-- side      base or other
-- run_id    the run
-- event_id  the operator or the call (`ops.event_id`)
-- name      operator, a generated kernel without the number of its graph; `compiled code` for a
--           call
-- start_ns  Unix time at which it began, ns
-- ns        its time within the step, ns
CREATE MACRO compared_host_work(base, other, rank := NULL, nth_step := NULL) AS TABLE
    WITH
    windows AS (
        SELECT
            measured.side,
            measured.run_id,
            measured.source_id,
            measured.step,
            greatest(measured.start_ns, own.start_ns) AS start_ns,
            least(measured.end_ns, own.start_ns + own.dur_ns) AS end_ns,
            own.start_ns AS step_start_ns,
            own.dur_ns AS step_dur_ns
        FROM compared_windows(base, other, rank := rank, nth_step := nth_step) AS measured
        LEFT JOIN steps AS own
            ON
                measured.run_id = own.run_id
                AND measured.source_id = own.source_id
                AND measured.step = own.step
                AND own.run_id IN (base, other)
        WHERE measured.measure = 'host'
    ),

    -- The inner steps, and the bounds of each window as intervals of length 0: the time between
    -- these intervals is the step's own.
    not_own AS (
        SELECT side, run_id, source_id, step, start_ns, start_ns AS end_ns
        FROM windows
        UNION ALL
        SELECT side, run_id, source_id, step, end_ns AS start_ns, end_ns
        FROM windows
        UNION ALL
        SELECT
            windows.side,
            windows.run_id,
            windows.source_id,
            windows.step,
            inside.start_ns,
            inside.start_ns + inside.dur_ns AS end_ns
        FROM windows
        INNER JOIN steps AS inside
            ON
                windows.run_id = inside.run_id
                AND windows.source_id = inside.source_id
                AND windows.end_ns > inside.start_ns
                AND windows.start_ns < inside.start_ns + inside.dur_ns
        WHERE
            inside.run_id IN (base, other)
            AND windows.step IS NOT NULL
            AND (inside.start_ns, -inside.dur_ns, inside.step)
            > (windows.step_start_ns, -windows.step_dur_ns, windows.step)
    ),

    stretches AS (
        SELECT
            side,
            run_id,
            source_id,
            step,
            max(end_ns) OVER (
                PARTITION BY side, run_id, source_id ORDER BY start_ns, end_ns
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS start_ns,
            start_ns AS end_ns
        FROM not_own
    ),

    operators AS (
        SELECT
            stretches.side,
            stretches.run_id,
            stretches.source_id,
            top.event_id,
            compared_name(top.name) AS name,
            top.start_ns AS op_start_ns,
            stretches.start_ns AS stretch_ns,
            greatest(top.start_ns, stretches.start_ns) AS start_ns,
            least(top.start_ns + top.dur_ns, stretches.end_ns) AS end_ns
        FROM stretches
        INNER JOIN top_ops AS top
            ON
                stretches.run_id = top.run_id
                AND stretches.source_id = top.source_id
                AND stretches.end_ns >= top.start_ns
                AND stretches.start_ns <= top.start_ns + top.dur_ns
        -- An operator that only touches a stretch is not in it; one of length 0 is in the step that
        -- it starts in.
        WHERE
            top.run_id IN (base, other)
            AND top.kind = 'operator'
            AND stretches.end_ns > stretches.start_ns
            AND if(
                top.dur_ns = 0,
                top.step IS NOT DISTINCT FROM stretches.step,
                least(top.start_ns + top.dur_ns, stretches.end_ns)
                > greatest(top.start_ns, stretches.start_ns)
            )
    ),

    calls AS (
        SELECT
            run_id,
            source_id,
            event_id,
            start_ns,
            greatest(
                start_ns,
                max(start_ns + dur_ns) OVER (
                    PARTITION BY run_id, source_id ORDER BY start_ns, dur_ns DESC, event_id
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                )
            ) AS own_start_ns,
            start_ns + dur_ns AS end_ns
        FROM ops
        WHERE run_id IN (base, other) AND is_compiled_graph(name)
    ),

    -- Likewise, the time between these intervals is free of operators.
    not_free AS (
        SELECT side, run_id, source_id, stretch_ns, start_ns, end_ns
        FROM operators
        UNION ALL
        SELECT
            side,
            run_id,
            source_id,
            start_ns AS stretch_ns,
            start_ns,
            start_ns AS end_ns
        FROM stretches
        WHERE end_ns > start_ns
        UNION ALL
        SELECT side, run_id, source_id, start_ns AS stretch_ns, end_ns AS start_ns, end_ns
        FROM stretches
        WHERE end_ns > start_ns
    ),

    free AS (
        SELECT
            side,
            run_id,
            source_id,
            max(end_ns) OVER (
                PARTITION BY side, run_id, source_id, stretch_ns ORDER BY start_ns, end_ns
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS start_ns,
            start_ns AS end_ns
        FROM not_free
    )

    SELECT
        operators.side,
        operators.run_id,
        operators.event_id,
        operators.name,
        min(operators.op_start_ns) AS start_ns,
        sum(operators.end_ns - operators.start_ns)::BIGINT AS ns
    FROM operators
    GROUP BY operators.side, operators.run_id, operators.event_id, operators.name
    UNION ALL
    SELECT
        free.side,
        free.run_id,
        calls.event_id,
        'compiled code' AS name,
        min(calls.start_ns) AS start_ns,
        sum(least(calls.end_ns, free.end_ns) - greatest(calls.own_start_ns, free.start_ns))::BIGINT
            AS ns
    FROM free
    INNER JOIN calls
        ON
            free.run_id = calls.run_id
            AND free.source_id = calls.source_id
            AND free.end_ns > calls.own_start_ns
            AND free.start_ns < calls.end_ns
    WHERE free.end_ns > free.start_ns AND calls.end_ns > calls.own_start_ns
    GROUP BY free.side, free.run_id, calls.event_id;
