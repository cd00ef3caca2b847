-- Part of `advice_checks`: what it looks at while the device, or a host without one, had nothing to
-- do: `host_bound`, `recompiled`, `blocking`, `dataloader`.
-- One row: a kind of advice, for a device of a rank of a run; without a device, for a rank's host.
--
-- run_id          the run
-- rank            rank of the process
-- device          number of the device; null where the host is measured
-- is_slowest      whether this device has the longest wall time of the run
-- wall_ns         wall time of the median step, ns
-- kind            kind of advice, as there
-- bound_ns        time that it can save of the median step at most, ns, where that can be told
-- idle_ns         of that, idle time, ns
-- finding         what was found, in a sentence
-- remedy          what to try
-- cause           cause of the bubbles that it is about, as in `bubbles`; null where the host is
--                 measured
-- unknown_reason  why there is no bound; null where there is one
WITH
metrics AS NOT MATERIALIZED (
    SELECT
        *,
        if(steps_from = 'run', 'the run', 'the median step') AS a_step
    FROM run_metrics
),

-- Each kind counts the idle time of one cause, as in `parts`, so that no two count the same.
kinds (kind, cause) AS (
    VALUES
    ('host_bound', 'host'), ('recompiled', 'compile'), ('blocking', 'sync'),
    ('dataloader', 'dataloader')
),

reasons AS (
    SELECT run_id, rank, arg_max(reason, dur_ns) AS reason
    FROM compilations
    WHERE is_in_measured_step
    GROUP BY run_id, rank
),

-- Compilation in the median step.
compiled AS (
    SELECT
        step.run_id,
        step.rank,
        step.device,
        sum(
            least(found.start_ns + found.dur_ns, step.start_ns + step.dur_ns)
            - greatest(found.start_ns, step.start_ns)
        )::BIGINT AS ns
    FROM step_metrics AS step
    INNER JOIN compilations AS found
        ON
            step.run_id = found.run_id
            AND step.rank = found.rank
            AND found.start_ns < step.start_ns + step.dur_ns
            AND found.start_ns + found.dur_ns > step.start_ns
    WHERE step.is_median
    GROUP BY step.run_id, step.rank, step.device
),

facts AS (
    SELECT
        metrics.run_id,
        metrics.rank,
        metrics.device,
        metrics.is_slowest,
        metrics.wall_ns,
        kinds.kind,
        kinds.cause,
        listed.remedy,
        metrics.measure = 'host' AS is_host,
        listed.is_of_host,
        metrics.launches IS NOT NULL AS has_launches,
        metrics.a_step,
        coalesce(part.ns, 0) AS idle_ns,
        idle.location,
        -- A gap can begin before its step.
        least(idle.location_ns, part.ns) AS location_ns,
        metrics.compilations,
        metrics.recompiles,
        greatest(metrics.compile_ns, part.total_ns) AS compile_ns,
        greatest(compiled.ns, part.ns) AS step_compile_ns,
        reasons.reason,
        -- Compilation can take time beside the idle time that counts as such. It delays a device
        -- before its first activity and after its last; in other idle time, other advice counts.
        if(
            metrics.measure = 'host',
            metrics.wall_ns - metrics.bubble_ns,
            metrics.lead_ns + metrics.tail_ns
        ) AS not_idle_ns
    FROM metrics
    CROSS JOIN kinds
    INNER JOIN parts AS listed ON kinds.cause = listed.part
    LEFT JOIN run_parts AS part
        ON
            metrics.run_id = part.run_id
            AND metrics.rank = part.rank
            AND metrics.device IS NOT DISTINCT FROM part.device
            AND kinds.cause = part.part
    LEFT JOIN measured_causes AS idle
        ON
            metrics.run_id = idle.run_id
            AND metrics.rank = idle.rank
            AND metrics.device IS NOT DISTINCT FROM idle.device
            AND kinds.cause = idle.cause
    LEFT JOIN compiled
        ON
            metrics.run_id = compiled.run_id
            AND metrics.rank = compiled.rank
            AND metrics.device IS NOT DISTINCT FROM compiled.device
    LEFT JOIN reasons ON metrics.run_id = reasons.run_id AND metrics.rank = reasons.rank
)

SELECT
    run_id,
    facts.rank,
    device,
    is_slowest,
    wall_ns,
    kind,
    idle_ns
    + if(kind = 'recompiled', coalesce(least(step_compile_ns - idle_ns, not_idle_ns), 0), 0)
        AS bound_ns,
    idle_ns,
    CASE
        WHEN kind = 'host_bound' AND is_host
            THEN format(
                'In {:,.2f} ms of {} no operator ran: the host was in Python, or waited.',
                idle_ns / 1e6,
                a_step
            )
        WHEN kind = 'host_bound'
            THEN format(
                'The device idled {:,.2f} ms of {} as the host launched late',
                idle_ns / 1e6,
                a_step
            ) || coalesce(format('; {:,.2f} ms of it in {}.', location_ns / 1e6, location), '.')
        WHEN kind = 'recompiled' AND coalesce(compilations, 0) = 0
            THEN format(
                'The device idled {:,.2f} ms of {} while the host compiled.', idle_ns / 1e6, a_step
            )
        WHEN kind = 'recompiled'
            THEN format(
                '{} in the measured steps took {:,.2f} ms in all; {} of them had been '
                'compiled before{}',
                if(compilations = 1, '1 compilation', format('{:,} compilations', compilations)),
                compile_ns / 1e6,
                if(recompiles = 0, 'none', format('{:,}', recompiles)),
                CASE
                    WHEN reason IS NOT NULL THEN ': ' || reason
                    WHEN recompiles > 0 THEN ' (no reason was recorded).'
                    ELSE '.'
                END
            )
        WHEN kind = 'blocking'
            THEN format(
                'The device idled {:,.2f} ms of {} after the host had waited for it',
                idle_ns / 1e6,
                a_step
            ) || coalesce(format('; {:,.2f} ms of it after {}.', location_ns / 1e6, location), '.')
        WHEN kind = 'dataloader'
            THEN format(
                '{} {:,.2f} ms of {} while {} loaded data.',
                if(is_host, 'The host spent', 'The device idled'),
                idle_ns / 1e6,
                a_step,
                if(is_host, 'it', 'the host')
            )
    END AS finding,
    remedy,
    CASE
        WHEN is_host THEN NULL
        WHEN kind <> 'recompiled' OR idle_ns > 0 THEN cause
    END AS cause,
    CASE
        WHEN kind = 'recompiled' THEN NULL
        WHEN is_host AND NOT is_of_host THEN 'the run has no device'
        WHEN NOT is_host AND NOT has_launches
            THEN 'the trace does not tell which calls launched the kernels'
    END AS unknown_reason
FROM facts;
