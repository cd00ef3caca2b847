-- Part of `compared_work_items` and `kernel_diff`: the host's work that counts in a comparison of
-- two runs: `compared_host_work(base, other, rank := NULL, nth_step := NULL)`. Time in an inner
-- step belongs to the inner step, as in `step_parts`. A call of a compiled graph counts only while
-- no operator runs on any thread. If such calls overlap, the time belongs to the one that began
-- first.
-- One row: an outermost operator, or a call of a compiled graph, in the compared step or recording
-- of a side. There are no rows if a device is compared.
--
-- side, run_id
-- event_id  the operator or the call (`ops.event_id`)
-- name      name of the operator, without the graph number of a generated kernel; `compiled code`
--           for a call of a compiled graph
-- start_ns  Unix time at which the operator or call began, ns
-- ns        time of the operator or call within the step, ns
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

    -- The inner steps, and the bounds of each window as intervals of length 0. The time between
    -- these intervals belongs to the step itself.
    inner_steps AS (
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

    own_intervals AS (
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
        FROM inner_steps
    ),

    operators AS (
        SELECT
            own_intervals.side,
            own_intervals.run_id,
            own_intervals.source_id,
            top.event_id,
            compared_name(top.name) AS name,
            top.start_ns AS op_start_ns,
            own_intervals.start_ns AS interval_start_ns,
            greatest(top.start_ns, own_intervals.start_ns) AS start_ns,
            least(top.start_ns + top.dur_ns, own_intervals.end_ns) AS end_ns
        FROM own_intervals
        INNER JOIN top_ops AS top
            ON
                own_intervals.run_id = top.run_id
                AND own_intervals.source_id = top.source_id
                AND own_intervals.end_ns >= top.start_ns
                AND own_intervals.start_ns <= top.start_ns + top.dur_ns
        -- Exclude operators that only touch an interval. An operator of length 0 belongs to the
        -- step in which it starts.
        WHERE
            top.run_id IN (base, other)
            AND top.kind = 'operator'
            AND own_intervals.end_ns > own_intervals.start_ns
            AND if(
                top.dur_ns = 0,
                top.step IS NOT DISTINCT FROM own_intervals.step,
                least(top.start_ns + top.dur_ns, own_intervals.end_ns)
                > greatest(top.start_ns, own_intervals.start_ns)
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

    -- The intervals in which operators run, and the bounds of each interval of the step as
    -- intervals of length 0. No operator runs in the time between them.
    operator_intervals AS (
        SELECT side, run_id, source_id, interval_start_ns, start_ns, end_ns
        FROM operators
        UNION ALL
        SELECT
            side,
            run_id,
            source_id,
            start_ns AS interval_start_ns,
            start_ns,
            start_ns AS end_ns
        FROM own_intervals
        WHERE end_ns > start_ns
        UNION ALL
        SELECT side, run_id, source_id, start_ns AS interval_start_ns, end_ns AS start_ns, end_ns
        FROM own_intervals
        WHERE end_ns > start_ns
    ),

    free_intervals AS (
        SELECT
            side,
            run_id,
            source_id,
            max(end_ns) OVER (
                PARTITION BY side, run_id, source_id, interval_start_ns ORDER BY start_ns, end_ns
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS start_ns,
            start_ns AS end_ns
        FROM operator_intervals
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
        free_intervals.side,
        free_intervals.run_id,
        calls.event_id,
        'compiled code' AS name,
        min(calls.start_ns) AS start_ns,
        sum(
            least(calls.end_ns, free_intervals.end_ns)
            - greatest(calls.own_start_ns, free_intervals.start_ns)
        )::BIGINT AS ns
    FROM free_intervals
    INNER JOIN calls
        ON
            free_intervals.run_id = calls.run_id
            AND free_intervals.source_id = calls.source_id
            AND free_intervals.end_ns > calls.own_start_ns
            AND free_intervals.start_ns < calls.end_ns
    WHERE free_intervals.end_ns > free_intervals.start_ns AND calls.end_ns > calls.own_start_ns
    GROUP BY free_intervals.side, free_intervals.run_id, calls.event_id;
