-- Part of `advice_checks` and `advice_of_steps`: the checks of some steps of each device:
-- `advice_of(sums, work, measured)`, with the names of three relations. `sums` and `work` have the
-- columns of `advice_sums_of` and of `shape_work` for these steps. `measured` has the columns of
-- `run_metrics`, summed over these steps, and `steps_name`, the name of the steps in texts.
-- One row: a kind of advice, for a device of a rank of a run; without a device, for a rank's host.
--
-- run_id, device_id, rank, device, is_default
-- kind          kind of advice, as in `advice_kinds`
-- bound_ns
-- idle_ns       idle time in the bound, which no other kind counts, ns
-- gain_ns
-- is_reachable  whether the bound can be reached, as in `advice_checks`
-- is_advice
-- wall_ns       wall time of the chosen steps, ns
-- percent       bound in percent of the wall time, 0 to 100
-- finding, remedy
-- cause         cause of the bubbles that the advice is about, as in `bubbles`; null for other
--               advice
-- kernel        kernel with the largest share of the time; null if the advice is not about kernels
-- op            operator with the largest share of the time; null if the advice is not about
--               operators
-- unknown_reason
CREATE MACRO advice_of(sums, work, measured) AS TABLE
    WITH
    work_of_steps AS NOT MATERIALIZED (SELECT * FROM query_table(work)),

    known AS (
        SELECT
            metrics.run_id,
            metrics.device_id,
            metrics.rank,
            metrics.device,
            metrics.is_default,
            metrics.wall_ns,
            metrics.measure = 'host' AS is_host,
            kinds.kind,
            kinds.cause,
            kinds.names,
            kinds.assumes,
            coalesce(total.idle_ns, 0) AS idle_ns,
            total.gain_ns,
            list_contains(kinds.needs, 'limits') AS is_about_limits,
            if(is_about_limits, limits.calls, total.calls) AS found_calls,
            if(is_about_limits, limits.work_ns, total.work_ns) AS found_ns,
            if(is_about_limits, limits.name, total.name) AS found_name,
            CASE
                WHEN is_about_limits THEN limits.saved_ns
                WHEN list_contains(kinds.needs, 'half_precision')
                    THEN
                        total.work_ns
                        - round(total.work_ns / greatest(limits.speedup, 1))::BIGINT
                -- A host's work is a part of its busy time.
                WHEN is_host AND total.saved_ns IS NOT NULL THEN greatest(total.saved_ns, 0)
                ELSE total.saved_ns
            END AS all_saved_ns,
            -- Kernels of several streams, and operators of several threads, run at the same time.
            if(
                all_saved_ns > metrics.wall_ns - metrics.idle_ns,
                metrics.wall_ns - metrics.idle_ns,
                all_saved_ns
            ) AS work_saved_ns,
            CASE
                WHEN len(kinds.remedies) = 0 THEN of_cause.remedy
                -- These depend on the operator, and name functions of torch.
                WHEN is_about_limits AND (limits.slowest IS NULL OR runs.framework <> 'pytorch')
                    THEN NULL
                ELSE remedy_text(
                    kinds.remedies,
                    list_concat(used.features, coalesce(limits.slowest.features, []))
                )
            END AS remedy,
            CASE
                WHEN NOT list_contains(kinds.applies_to, metrics.measure)
                    THEN 'the run has no device'
                WHEN
                    list_contains(kinds.needs, 'launches')
                    AND NOT is_host AND metrics.launches IS NULL
                    THEN 'the trace does not show which calls launched the kernels'
                WHEN list_contains(kinds.needs, 'matches') AND total.gain_ns IS NULL
                    THEN 'no collectives are matched with those of other ranks'
                WHEN list_contains(kinds.needs, 'half_precision') AND limits.speedup IS NULL
                    THEN coalesce(
                        format(
                            'the peaks of {} in float32 and half precision are unknown',
                            runs.device_name
                        ),
                        'the trace does not name the device'
                    )
                WHEN is_about_limits AND limits.saved_ns IS NOT NULL THEN NULL
                WHEN is_about_limits AND limits.tb_per_s IS NULL
                    THEN
                        'the limits of the device are unknown (use `ingest edit RUN '
                        || '--tag peak_bfloat16=989 --tag peak_bandwidth=3.35`)'
                WHEN list_contains(kinds.needs, 'input_types') AND NOT metrics.is_typed
                    THEN 'the types of inputs were not recorded (use record_shapes=True)'
                WHEN
                    list_contains(kinds.needs, 'input_types')
                    AND metrics.is_typed IS NULL AND found_ns IS NULL
                    THEN 'an older version added the run (use `ingest upgrade`)'
            END AS unknown_reason,
            format(
                'Without {}, {} would end {} earlier.',
                kinds.path_text,
                metrics.steps_name,
                duration_text(total.gain_ns)
            ) AS path_finding,
            kinds.first_findings,
            kinds.findings,
            kinds.further,
            MAP {
                '{steps}': metrics.steps_name,
                '{calls}': format('{:,}', found_calls),
                '{counted_calls}': if(found_calls = 1, '1 call', format('{:,} calls', found_calls)),
                '{times}': if(found_calls = 1, 'once', format('{:,} times', found_calls)),
                '{kernels}': format('{:,}', metrics.kernels),
                '{work}': duration_text(found_ns),
                '{saved}': duration_text(work_saved_ns),
                '{saved_part}': nullif(duration_text(work_saved_ns), duration_text(found_ns)),
                '{left}': duration_text(found_ns - work_saved_ns),
                '{idle}': duration_text(total.idle_ns),
                '{host_idle}': if(is_host, duration_text(total.idle_ns), NULL),
                '{late}': if(total.late_ns > 0, duration_text(total.late_ns), NULL),
                '{waiting}': if(total.waiting_ns = 0, 'no time', duration_text(total.waiting_ns)),
                '{longer}': duration_text(total.named_ns),
                '{speedup}': format(if(limits.speedup < 10, '{:.2g}', '{:.0f}'), limits.speedup),
                '{device}': runs.device_name,
                '{op_calls}': if(
                    limits.slowest.calls = 1, '1 call', format('{:,} calls', limits.slowest.calls)
                ),
                '{op_work}': duration_text(limits.slowest.work_ns),
                '{peak_share}': if(
                    limits.slowest.limited_by = 'compute', limits.slowest.share, NULL
                ),
                '{bandwidth_share}': if(
                    limits.slowest.limited_by = 'memory', limits.slowest.share, NULL
                ),
                '{waves}': limits.slowest.waves,
                '{compilations}': CASE
                    WHEN metrics.compilations = 1 THEN '1 compilation'
                    WHEN metrics.compilations > 1
                        THEN format('{:,} compilations', metrics.compilations)
                END,
                '{recompiles}': coalesce(format('{:,}', nullif(metrics.recompiles, 0)), 'none'),
                '{some_recompiles}': format('{:,}', nullif(metrics.recompiles, 0)),
                '{compile}': duration_text(greatest(metrics.compile_ns, part.total_ns)),
                -- A gap can begin before its step, and is then longer than the step's idle time.
                '{named}': duration_text(least(total.named_ns, total.idle_ns)),
                '{name}': found_name
            } AS texts
        FROM query_table(measured) AS metrics
        CROSS JOIN advice_kinds AS kinds
        INNER JOIN runs ON metrics.run_id = runs.run_id
        INNER JOIN run_features AS used ON metrics.run_id = used.run_id
        LEFT JOIN limit_sums_of('work_of_steps') AS limits
            ON metrics.run_id = limits.run_id AND metrics.device_id = limits.device_id
        LEFT JOIN run_remedies AS of_cause
            ON metrics.run_id = of_cause.run_id AND kinds.cause = of_cause.cause
        LEFT JOIN query_table(sums) AS total
            ON
                metrics.run_id = total.run_id
                AND metrics.device_id = total.device_id
                AND kinds.kind = total.kind
        LEFT JOIN run_parts AS part
            ON
                metrics.run_id = part.run_id
                AND metrics.device_id = part.device_id
                AND kinds.cause = part.part
    ),

    bounded AS (
        SELECT
            * REPLACE (
                if(unknown_reason IS NULL, idle_ns, NULL) AS idle_ns,
                if(unknown_reason IS NULL, gain_ns, NULL) AS gain_ns
            ),
            coalesce(work_saved_ns, 0) + known.idle_ns AS own_ns,
            -- Less work on the critical path can also shorten gaps of other causes.
            if(unknown_reason IS NULL, greatest(own_ns, coalesce(known.gain_ns, 0)), NULL)
                AS bound_ns
        FROM known
    )

    SELECT
        run_id,
        device_id,
        bounded.rank,
        device,
        is_default,
        kind,
        bound_ns,
        idle_ns,
        gain_ns,
        assumes IS NULL AS is_reachable,
        coalesce(bound_ns >= 0.01 * wall_ns AND bound_ns >= 50_000, FALSE) AS is_advice,
        wall_ns,
        100.0 * bound_ns / nullif(wall_ns, 0) AS percent,
        if(
            bound_ns > 0,
            concat_ws(
                ' ',
                if(gain_ns > own_ns, path_finding, NULL),
                list_first(known_sentences(
                    list_concat(first_findings, if(own_ns > 0, findings, [])), texts
                )),
                if(
                    own_ns > 0,
                    nullif(array_to_string(known_sentences(further, texts), ' '), ''),
                    NULL
                )
            ),
            NULL
        ) AS finding,
        remedy,
        if(NOT is_host AND idle_ns > 0, cause, NULL) AS cause,
        if(names = 'kernel', found_name, NULL) AS kernel,
        if(names = 'op', found_name, NULL) AS op,
        unknown_reason
    FROM bounded;
