-- Part of `advice_checks` and `advice_of_steps`: the times that the checks are based on, summed for
-- each step.
-- One row: a kind of advice in a step of a device of a rank, or of its host. Kinds about kernels,
-- operators or lines of code have a row for each name.
-- Stored: it reads nine tables of each run.
--
-- run_id, device_id, rank, device
-- step      number of the step (`steps.step`); null for time between steps, and if no steps were
--           found
-- is_median
-- kind      kind of advice, as in `advice_checks`
-- name      kernel, copy or operator. For `blocking`, the wait. For other idle time, the work of
--           the host, with the Python frame if the trace has stacks. For `recompiled`, the reason.
--           Null if unknown
-- calls     number of kernels for `small_kernels`, of operator calls for `float_matmul`
-- work_ns   time of the kernels or operators of the row; for `recompiled`, of the compilation in
--           the step, ns
-- idle_ns   idle time that counts in this kind, ns
-- late_ns   idle time before the kernels of the row that counts in `host_bound`, ns
-- named_ns  time by which the names are ranked, ns
-- gain_ns   how much earlier the step would end if the intervals of this kind on its critical path
--           took no time, ns (`critical_path_gains`); for the device that ends the step
WITH facts AS (
    SELECT
        run_id,
        device_id,
        rank,
        device,
        step,
        is_median,
        'small_kernels' AS kind,
        name,
        calls,
        device_ns AS work_ns,
        launch_idle_ns AS idle_ns,
        host_idle_ns AS late_ns,
        device_ns + launch_idle_ns AS named_ns
    FROM short_kernels
    UNION ALL BY NAME
    SELECT
        run_id,
        device_id,
        rank,
        device,
        step,
        is_median,
        'float_matmul' AS kind,
        op AS name,
        calls,
        device_ns AS work_ns,
        device_ns AS named_ns
    FROM float_matmuls
    UNION ALL BY NAME
    SELECT
        run_id,
        device_id,
        rank,
        device,
        step,
        is_median,
        'unfused_attention' AS kind,
        op AS name,
        attentions AS calls,
        device_ns AS work_ns,
        device_ns AS named_ns
    FROM unfused_attentions
    UNION ALL BY NAME
    SELECT
        run_id,
        device_id,
        rank,
        device,
        step,
        is_median,
        'exposed_' || class AS kind,
        name,
        sum(inside_ns)::BIGINT AS named_ns
    FROM measured_kernels
    WHERE class <> 'compute'
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        parts.run_id,
        parts.device_id,
        parts.rank,
        parts.device,
        parts.step,
        step.is_median,
        advice_of_cause(parts.part) AS kind,
        parts.ns AS idle_ns
    FROM step_parts AS parts
    INNER JOIN step_metrics AS step
        ON
            parts.run_id = step.run_id
            AND parts.source_id = step.source_id
            AND parts.device_id = step.device_id
            AND parts.step IS NOT DISTINCT FROM step.step
    WHERE advice_of_cause(parts.part) IS NOT NULL
    UNION ALL BY NAME
    SELECT
        run_id,
        device_id,
        rank,
        device,
        step,
        is_median,
        advice_of_cause(cause) AS kind,
        nullif(concat_ws(
            ' at ',
            if(cause = 'sync', wait, host_op),
            if(cause = 'sync', wait_frame, host_frame)
        ), '') AS name,
        sum(dur_ns)::BIGINT AS named_ns
    FROM measured_bubbles
    WHERE cause IN ('host', 'sync')
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        step.run_id,
        step.device_id,
        step.rank,
        step.device,
        step.step,
        step.is_median,
        'recompiled' AS kind,
        found.reason AS name,
        least(found.start_ns + found.dur_ns, step.start_ns + step.range_ns)
        - greatest(found.start_ns, step.start_ns) AS work_ns,
        found.dur_ns AS named_ns
    FROM step_metrics AS step
    INNER JOIN compilations AS found
        ON
            step.run_id = found.run_id
            AND step.rank = found.rank
            AND found.start_ns < step.start_ns + step.range_ns
            AND found.start_ns + found.dur_ns > step.start_ns
    UNION ALL BY NAME
    SELECT
        step.run_id,
        step.device_id,
        step.rank,
        step.device,
        step.step,
        step.is_median,
        advice_of_path(gain.name) AS kind,
        least(gain.gain_ns, step.wall_ns) AS gain_ns
    FROM critical_path_gains AS gain
    INNER JOIN step_metrics AS step
        ON
            gain.run_id = step.run_id
            AND gain.source_id = step.source_id
            AND gain.step IS NOT DISTINCT FROM step.step
    WHERE
        gain.level = 'kind'
        AND advice_of_path(gain.name) IS NOT NULL
        AND step.kernels IS NOT NULL
        AND step.start_ns IS NOT NULL
    -- The path ends with the work of the last device.
    QUALIFY
        step.work_end_ns
        = max(step.work_end_ns) OVER (
            PARTITION BY step.run_id, step.source_id, step.step, gain.name
        )
)

FROM facts;
