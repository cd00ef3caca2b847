-- Part of `advice_checks` and `advice_of_steps`: the times that the checks are based on, summed for
-- each step.
-- One row: a kind of advice in a step of a device of a rank, or of its host. Kinds about kernels,
-- operators or lines of code have a row for each name.
-- Stored: it reads many tables of each run.
--
-- run_id, device_id, rank, device
-- step              number of the step (`steps.step`); null for time between steps, and if no steps
--                   were found
-- is_median
-- kind              kind of advice, as in `advice_kinds`
-- name              kernel, copy or operator. For `blocking`, the wait. For other idle time, the
--                   work of the host, with the Python frame if the trace has stacks. For
--                   `recompiled`, the reason. Null if unknown
-- calls             number of kernels for `small_kernels`, of operator calls for `float_matmul`
-- work_ns           time of the kernels or operators of the row; for `recompiled`, of the
--                   compilation in the step, ns
-- saved_ns          part of the busy time that the advice can save, ns; null if the check computes
--                   it. On a host, negative rows take idle time out of the time of compilation
-- idle_ns           idle time that counts in this kind, ns
-- late_ns           idle time before the kernels of the row that counts in `host_bound`, ns
-- waiting_ns        time in collectives in which the rank waited for others, ns; null if unknown
-- named_ns          time that ranks the names, ns
-- gain_ns           how much earlier the step would end if the intervals of this kind on its
--                   critical path took no time, ns (`critical_path_gains`); for the device that
--                   ends the step. Waiting in collectives does not count. For `straggler`, what the
--                   rank costs
WITH found AS (
    FROM facts_of_kinds
    UNION ALL BY NAME
    SELECT
        idle.run_id,
        idle.device_id,
        idle.rank,
        idle.device,
        idle.step,
        idle.is_median,
        kinds.kind,
        idle.ns AS idle_ns
    FROM causes_of_kinds AS kinds
    INNER JOIN measured_parts AS idle ON kinds.cause = idle.part
    UNION ALL BY NAME
    SELECT
        step.run_id,
        step.device_id,
        step.rank,
        step.device,
        step.step,
        step.is_median,
        kinds.kind,
        least(
            gain.gain_ns,
            step.wall_ns,
            -- Less communication does not shorten the wait for another rank.
            if(kinds.path = 'communication', moved.path_transfer_ns, NULL)
        ) AS gain_ns
    FROM causes_of_kinds AS kinds
    INNER JOIN critical_path_gains AS gain ON gain.level = 'kind' AND kinds.path = gain.name
    INNER JOIN step_metrics AS step
        ON
            gain.run_id = step.run_id
            AND gain.source_id = step.source_id
            AND gain.step IS NOT DISTINCT FROM step.step
    LEFT JOIN exposed_transfers AS moved
        ON
            step.run_id = moved.run_id
            AND step.source_id = moved.source_id
            AND step.device_id = moved.device_id
            AND step.step IS NOT DISTINCT FROM moved.step
    WHERE step.kernels IS NOT NULL AND step.start_ns IS NOT NULL
    -- The path ends with the work of the last device.
    QUALIFY
        step.work_end_ns = max(step.work_end_ns) OVER (
            PARTITION BY step.run_id, step.source_id, step.step, gain.name
        )
)

SELECT
    run_id,
    device_id,
    found.rank,
    device,
    step,
    is_median,
    kind,
    name,
    sum(calls)::BIGINT AS calls,
    sum(work_ns)::BIGINT AS work_ns,
    sum(saved_ns)::BIGINT AS saved_ns,
    sum(idle_ns)::BIGINT AS idle_ns,
    sum(late_ns)::BIGINT AS late_ns,
    sum(waiting_ns)::BIGINT AS waiting_ns,
    sum(named_ns)::BIGINT AS named_ns,
    sum(gain_ns)::BIGINT AS gain_ns
FROM found
GROUP BY ALL
-- Adding a run again writes the same file.
ORDER BY device_id, step, kind, name;
