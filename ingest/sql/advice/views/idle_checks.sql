-- Of what `advice_checks` looks at, that in which the device, or a host without one, had nothing to
-- do: `host_bound`, `recompiled`, `blocking`, `dataloader`.
-- One row: a kind of advice, for a device of a rank of a run; without a device, for a rank's host.
--
-- run_id    the run
-- rank      rank of the process
-- device    number of the device; null where the host is measured
-- kind      kind of advice, as there
-- bound_ns  time that it can save in a step at most, ns, where that can be told
-- what      what was found, in a sentence
-- remedy    what to try
-- cause     cause of the bubbles that it is about, as in `bubbles`; null where the host is measured
-- not_told  why there is no bound; null where there is one
WITH
metrics AS NOT MATERIALIZED (
    SELECT
        *,
        if(steps > 1, format(' of {} steps', steps), '') AS of_steps,
        if(steps_from = 'run', 'the run', 'a step') AS a_step
    FROM run_metrics
),

-- Each kind of advice is about one cause of idle time, as in `parts`.
kinds (kind, cause) AS (
    VALUES
    ('host_bound', 'host'), ('recompiled', 'compile'), ('blocking', 'sync'),
    ('dataloader', 'dataloader')
),

compiled AS (
    SELECT
        run_id,
        rank,
        count(*) AS compilations,
        count(*) FILTER (WHERE recompile) AS recompiles,
        sum(dur_ns)::BIGINT AS ns,
        arg_max(reason, dur_ns) AS reason
    FROM compilations
    WHERE in_measured_step
    GROUP BY run_id, rank
),

facts AS (
    SELECT
        metrics.run_id,
        metrics.rank,
        metrics.device,
        kinds.kind,
        kinds.cause,
        listed.remedy,
        metrics.measure = 'host' AS is_host,
        metrics.a_step,
        metrics.of_steps,
        part.ns AS idle_ns,
        if(
            kinds.kind = 'recompiled',
            least(
                greatest(coalesce(compiled.ns, 0) // metrics.steps, coalesce(part.ns, 0)),
                metrics.wall_ns
            ),
            part.ns
        ) AS bound_ns,
        idle.bubbles,
        idle.place,
        idle.place_ns / metrics.steps AS place_ns,
        compiled.compilations,
        compiled.recompiles,
        compiled.reason,
        CASE
            WHEN kinds.kind = 'recompiled' THEN NULL
            WHEN metrics.measure = 'host' AND NOT listed.of_host THEN 'the run has no device'
            WHEN metrics.measure = 'device' AND metrics.launches IS NULL
                THEN 'the trace does not tell which calls launched the kernels'
        END AS not_told
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
    LEFT JOIN compiled ON metrics.run_id = compiled.run_id AND metrics.rank = compiled.rank
)

SELECT
    run_id,
    facts.rank,
    device,
    kind,
    bound_ns,
    CASE
        WHEN kind = 'host_bound' AND is_host
            THEN format(
                'In {:,.2f} ms of {} no operator ran: the host was in Python, or waited.',
                idle_ns / 1e6,
                a_step
            )
        WHEN kind = 'host_bound'
            THEN format(
                'The device idled {:,.2f} ms of {}, in {:,} gaps{}, as the host launched late',
                idle_ns / 1e6,
                a_step,
                bubbles,
                of_steps
            ) || coalesce(format('; {:,.2f} ms of it in {}.', place_ns / 1e6, place), '.')
        WHEN kind = 'recompiled' AND compilations IS NULL
            THEN format(
                'The device idled {:,.2f} ms of {} while the host compiled.', idle_ns / 1e6, a_step
            )
        WHEN kind = 'recompiled'
            THEN format(
                '{} in the measured steps took {:,.2f} ms of {}; {} of them had been '
                'compiled before{}',
                if(compilations = 1, '1 compilation', format('{:,} compilations', compilations)),
                bound_ns / 1e6,
                a_step,
                if(recompiles = 0, 'none', format('{:,}', recompiles)),
                CASE
                    WHEN reason IS NOT NULL THEN ': ' || reason
                    WHEN recompiles > 0 THEN ' (no reason was recorded).'
                    ELSE '.'
                END
            )
        WHEN kind = 'blocking'
            THEN format(
                'The device idled {:,.2f} ms of {} after the host had waited for it, {:,} times{}',
                idle_ns / 1e6,
                a_step,
                bubbles,
                replace(of_steps, ' of ', ' in ')
            ) || coalesce(format('; {:,.2f} ms of it after {}.', place_ns / 1e6, place), '.')
        WHEN kind = 'dataloader'
            THEN format(
                '{} {:,.2f} ms of {}{} while {} loaded data.',
                if(is_host, 'The host spent', 'The device idled'),
                idle_ns / 1e6,
                a_step,
                coalesce(format(', in {:,} gaps{},', bubbles, of_steps), ''),
                if(is_host, 'it', 'the host')
            )
    END AS what,
    remedy,
    CASE
        WHEN is_host THEN NULL
        WHEN kind <> 'recompiled' OR idle_ns > 0 THEN cause
    END AS cause,
    not_told
FROM facts;
