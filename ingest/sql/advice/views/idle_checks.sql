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
summaries AS NOT MATERIALIZED (
    SELECT
        *,
        if(steps > 1, format(' of {} steps', steps), '') AS of_steps,
        if(steps_from = 'run', 'the run', 'a step') AS a_step,
        if(
            measure = 'device' AND launches IS NULL,
            'the trace does not tell which calls launched the kernels',
            NULL
        ) AS no_launches
    FROM run_summaries
),

host_bound AS (
    SELECT
        summary.run_id,
        summary.rank,
        summary.device,
        'host_bound' AS kind,
        summary.bubble_host_ns AS bound_ns,
        if(
            summary.measure = 'host',
            format(
                'In {:,.2f} ms of {} no operator ran: the host was in Python, or waited.',
                summary.bubble_host_ns / 1e6,
                summary.a_step
            ),
            format(
                'The device idled {:,.2f} ms of {}, in {:,} gaps{}, as the host launched late',
                summary.bubble_host_ns / 1e6,
                summary.a_step,
                idle.bubbles,
                summary.of_steps
            ) || coalesce(
                format(
                    '; {:,.2f} ms of it in {}.', idle.place_ns / summary.steps / 1e6, idle.place
                ),
                '.'
            )
        ) AS what,
        'Compile the model, record CUDA graphs, or do less in Python between the operators.'
            AS remedy,
        if(summary.measure = 'host', NULL, 'host') AS cause,
        summary.no_launches AS not_told
    FROM summaries AS summary
    LEFT JOIN measured_causes AS idle
        ON
            summary.run_id = idle.run_id
            AND summary.rank = idle.rank
            AND summary.device IS NOT DISTINCT FROM idle.device
            AND idle.cause = 'host'
),

compiled AS (
    SELECT
        run_id,
        rank,
        count(*) AS compilations,
        count(*) FILTER (WHERE recompile) AS recompiles,
        sum(dur_ns) AS ns,
        arg_max(reason, dur_ns) AS reason
    FROM compilations
    WHERE in_measured_step
    GROUP BY run_id, rank
),

recompiled AS (
    SELECT
        summary.run_id,
        summary.rank,
        summary.device,
        'recompiled' AS kind,
        least(
            greatest(
                coalesce(compiled.ns, 0)::BIGINT // summary.steps,
                coalesce(summary.bubble_compile_ns, 0)
            ),
            summary.wall_ns
        ) AS bound_ns,
        if(
            compiled.compilations IS NULL,
            format(
                'The device idled {:,.2f} ms of {} while the host compiled.',
                summary.bubble_compile_ns / 1e6,
                summary.a_step
            ),
            format(
                '{} in the measured steps took {:,.2f} ms of {}; {} of them had been '
                'compiled before{}',
                if(
                    compiled.compilations = 1,
                    '1 compilation',
                    format('{:,} compilations', compiled.compilations)
                ),
                bound_ns / 1e6,
                summary.a_step,
                if(compiled.recompiles = 0, 'none', format('{:,}', compiled.recompiles)),
                CASE
                    WHEN compiled.reason IS NOT NULL THEN ': ' || compiled.reason
                    WHEN compiled.recompiles > 0 THEN ' (no reason was recorded).'
                    ELSE '.'
                END
            )
        ) AS what,
        'Compile in a warm-up before the profile; where a size changes, mark it with '
        'torch._dynamo.mark_dynamic, or pad to one size.' AS remedy,
        if(summary.bubble_compile_ns > 0 AND summary.measure = 'device', 'compile', NULL) AS cause,
        NULL::VARCHAR AS not_told
    FROM summaries AS summary
    LEFT JOIN compiled ON summary.run_id = compiled.run_id AND summary.rank = compiled.rank
),

blocking AS (
    SELECT
        summary.run_id,
        summary.rank,
        summary.device,
        'blocking' AS kind,
        summary.bubble_sync_ns AS bound_ns,
        format(
            'The device idled {:,.2f} ms of {} after the host had waited for it, {:,} times{}',
            summary.bubble_sync_ns / 1e6,
            summary.a_step,
            idle.bubbles,
            replace(summary.of_steps, ' of ', ' in ')
        ) || coalesce(
            format('; {:,.2f} ms of it after {}.', idle.place_ns / summary.steps / 1e6, idle.place),
            '.'
        ) AS what,
        'Copy from pinned memory with non_blocking=True; read results (.item(), .cpu(), printing) '
        'less often; synchronize only to measure.' AS remedy,
        'sync' AS cause,
        if(summary.measure = 'host', 'the run has no device', summary.no_launches) AS not_told
    FROM summaries AS summary
    LEFT JOIN measured_causes AS idle
        ON
            summary.run_id = idle.run_id
            AND summary.rank = idle.rank
            AND summary.device IS NOT DISTINCT FROM idle.device
            AND idle.cause = 'sync'
),

dataloader AS (
    SELECT
        summary.run_id,
        summary.rank,
        summary.device,
        'dataloader' AS kind,
        summary.bubble_dataloader_ns AS bound_ns,
        format(
            '{} {:,.2f} ms of {}{} while {} loaded data.',
            if(summary.measure = 'host', 'The host spent', 'The device idled'),
            summary.bubble_dataloader_ns / 1e6,
            summary.a_step,
            coalesce(format(', in {:,} gaps{},', idle.bubbles, summary.of_steps), ''),
            if(summary.measure = 'host', 'it', 'the host')
        ) AS what,
        'Load in other processes (DataLoader(num_workers=…, persistent_workers=True)), fetch '
        'ahead, or do less to each sample.' AS remedy,
        if(summary.measure = 'host', NULL, 'dataloader') AS cause,
        summary.no_launches AS not_told
    FROM summaries AS summary
    LEFT JOIN measured_causes AS idle
        ON
            summary.run_id = idle.run_id
            AND summary.rank = idle.rank
            AND summary.device IS NOT DISTINCT FROM idle.device
            AND idle.cause = 'dataloader'
)

FROM host_bound
UNION ALL BY NAME
FROM recompiled
UNION ALL BY NAME
FROM blocking
UNION ALL BY NAME
FROM dataloader;
