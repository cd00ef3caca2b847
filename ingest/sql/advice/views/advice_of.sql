-- Part of `advice_checks` and `advice_of_steps`: the checks of some steps of each device:
-- `advice_of(sums, measured)`, with the names of two relations. `sums` has the columns of
-- `advice_sums_of` for these steps. `measured` has the columns of `run_metrics`, summed over these
-- steps, and `steps_name`, the name of the steps in texts.
-- One row: a kind of advice, for a device of a rank of a run; without a device, for a rank's host.
--
-- run_id, device_id, rank, device
-- is_slowest    whether this device has the longest median step of the run
-- kind          kind of advice, as in `advice_checks`
-- bound_ns
-- idle_ns       idle time in the bound, which no other kind counts, ns
-- gain_ns       how much earlier the work would end if such work or waits on the critical path took
--               no time, ns (`critical_path_gains`); null if the path has none
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
CREATE MACRO advice_of(sums, measured) AS TABLE
    WITH
    kinds (kind, cause) AS (
        VALUES
        ('host_bound', 'host'), ('recompiled', 'compile'), ('blocking', 'sync'),
        ('dataloader', 'dataloader'), ('small_kernels', NULL), ('exposed_communication', NULL),
        ('exposed_copy', NULL), ('float_matmul', NULL), ('unfused_attention', NULL)
    ),

    known AS (
        SELECT
            metrics.run_id,
            metrics.device_id,
            metrics.rank,
            metrics.device,
            metrics.is_slowest,
            metrics.wall_ns,
            metrics.steps_name,
            metrics.measure = 'host' AS is_host,
            metrics.launches IS NOT NULL AS has_launches,
            metrics.kernels,
            metrics.compilations,
            metrics.recompiles,
            greatest(metrics.compile_ns, part.total_ns) AS compile_ns,
            kinds.kind,
            kinds.cause,
            used.features,
            against.remedy AS cause_remedy,
            listed.is_of_host,
            total.calls,
            CASE kinds.kind
                WHEN 'exposed_communication' THEN metrics.communication_ns
                WHEN 'exposed_copy' THEN metrics.copy_ns
                WHEN 'small_kernels' THEN total.work_ns
                WHEN 'float_matmul' THEN total.work_ns
                WHEN 'unfused_attention' THEN total.work_ns
            END AS work_ns,
            CASE kinds.kind
                WHEN 'exposed_communication' THEN metrics.exposed_communication_ns
                WHEN 'exposed_copy' THEN metrics.exposed_copy_ns
                WHEN 'small_kernels' THEN total.work_ns
                WHEN 'unfused_attention' THEN total.work_ns
                -- In half precision, they still take the time that the device's peak rate allows.
                WHEN 'float_matmul'
                    THEN total.work_ns - total.work_ns // half_precision_speedup(runs.device_name)
                -- On a host, compilation can also take time outside idle time of cause `compile`.
                WHEN 'recompiled'
                    THEN CASE
                        WHEN metrics.measure = 'host'
                            THEN least(
                                greatest(total.work_ns - total.idle_ns, 0),
                                metrics.wall_ns - metrics.idle_ns
                            )
                    END
            END AS saved_ns,
            coalesce(total.idle_ns, 0) AS idle_ns,
            coalesce(total.late_ns, 0) AS late_ns,
            total.gain_ns,
            total.name,
            -- A gap can begin before its step, and is then longer than the step's idle time.
            least(total.named_ns, total.idle_ns) AS location_ns,
            metrics.is_typed,
            runs.device_name,
            half_precision_speedup(runs.device_name) AS speedup
        FROM query_table(measured) AS metrics
        CROSS JOIN kinds
        INNER JOIN runs ON metrics.run_id = runs.run_id
        INNER JOIN run_features AS used ON metrics.run_id = used.run_id
        LEFT JOIN parts AS listed ON kinds.cause = listed.part
        LEFT JOIN run_remedies AS against
            ON metrics.run_id = against.run_id AND kinds.cause = against.cause
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

    judged AS (
        SELECT
            *,
            -- What is on the critical path can also shorten gaps with other causes.
            greatest(coalesce(saved_ns, 0) + idle_ns, coalesce(gain_ns, 0)) AS bound_ns,
            CASE
                WHEN kind = 'recompiled' THEN NULL
                WHEN is_host AND NOT coalesce(is_of_host, FALSE) THEN 'the run has no device'
                WHEN
                    (cause IS NOT NULL OR kind IN ('small_kernels', 'unfused_attention'))
                    AND NOT is_host AND NOT has_launches
                    THEN 'the trace does not show which calls launched the kernels'
                WHEN kind = 'float_matmul' AND device_name IS NULL
                    THEN 'the trace does not name the device'
                WHEN kind = 'float_matmul' AND speedup IS NULL
                    THEN format('it is unknown whether {} has tensor cores', device_name)
                WHEN kind = 'float_matmul' AND NOT is_typed
                    THEN 'the types of inputs were not recorded (use record_shapes=True)'
                WHEN kind = 'float_matmul' AND is_typed IS NULL AND work_ns IS NULL
                    THEN 'an older version added the run (use `ingest upgrade`)'
            END AS unknown_reason,
            gain_ns > coalesce(saved_ns, 0) + idle_ns AS is_of_path,
            CASE
                WHEN kind = 'host_bound' AND is_host
                    THEN format(
                        'No operator ran for {} of {}: the host was in Python, or waited.',
                        duration_text(idle_ns),
                        steps_name
                    )
                WHEN kind = 'host_bound'
                    THEN format(
                        'The device was idle for {} of {} because the host launched late',
                        duration_text(idle_ns),
                        steps_name
                    )
                    || coalesce(
                        format('; {} of that in {}.', duration_text(location_ns), name), '.'
                    )
                WHEN kind = 'recompiled' AND coalesce(compilations, 0) = 0
                    THEN format(
                        'The device was idle for {} of {} while the host compiled.',
                        duration_text(idle_ns),
                        steps_name
                    )
                WHEN kind = 'recompiled'
                    THEN format(
                        '{} in the measured steps took {} in total. Recompilations: {}{}',
                        if(
                            compilations = 1,
                            '1 compilation',
                            format('{:,} compilations', compilations)
                        ),
                        duration_text(compile_ns),
                        if(recompiles = 0, 'none', format('{:,}', recompiles)),
                        CASE
                            WHEN name IS NOT NULL THEN '. Reason: ' || name
                            WHEN recompiles > 0 THEN ' (no reason was recorded).'
                            ELSE '.'
                        END
                    )
                WHEN kind = 'blocking'
                    THEN format(
                        'The device was idle for {} of {} after the host had waited for it',
                        duration_text(idle_ns),
                        steps_name
                    ) || coalesce(
                        format('; {} of that after {}.', duration_text(location_ns), name), '.'
                    )
                WHEN kind = 'dataloader'
                    THEN format(
                        if(
                            is_host,
                            'The host loaded data for {} of {}.',
                            'The device idled for {} of {} while data was loaded.'
                        ),
                        duration_text(idle_ns),
                        steps_name
                    )
                WHEN kind = 'small_kernels'
                    THEN format(
                        '{:,} of {:,} kernels took less time than the call that launched them. '
                        'They took {} of {}, and the device was idle for {} right before them.',
                        calls,
                        kernels,
                        duration_text(work_ns),
                        steps_name,
                        duration_text(idle_ns)
                    ) || if(
                        late_ns > 0,
                        format(
                            ' Another {} of idle time before them counts as late launches of the '
                            'host.',
                            duration_text(late_ns)
                        ),
                        ''
                    )
                WHEN kind = 'exposed_communication'
                    THEN format(
                        'Communication took {} of {}; for {} of that, no computation ran. '
                        'Waiting for other ranks counts as communication.',
                        duration_text(work_ns),
                        steps_name,
                        duration_text(saved_ns)
                    )
                WHEN kind = 'exposed_copy'
                    THEN format(
                        'Copies and memsets took {} of {}; for {} of that, nothing else ran.',
                        duration_text(work_ns),
                        steps_name,
                        duration_text(saved_ns)
                    )
                WHEN kind = 'float_matmul'
                    THEN format(
                        '{:,} matrix multiplications and convolutions had float32 inputs, and no '
                        'kernel name shows that they used tensor cores. They took {} of {}. In '
                        'half precision they would take at least {}, because its peak rate on {} '
                        'is {} times as high.',
                        calls,
                        duration_text(work_ns),
                        steps_name,
                        duration_text(work_ns - saved_ns),
                        device_name,
                        speedup
                    )
                WHEN kind = 'unfused_attention'
                    THEN format(
                        'Attention ran as separate operators {}: a matrix multiplication, a '
                        'softmax and a matrix multiplication. These three took {} of {}.',
                        if(calls = 1, 'once', format('{:,} times', calls)),
                        duration_text(work_ns),
                        steps_name
                    )
            END AS finding,
            CASE kind
                WHEN 'small_kernels'
                    THEN remedy_text(
                        [
                            { 'text': 'Fuse them (torch.compile).', 'unless': ['compiled'] },
                            { 'text': 'Record CUDA graphs.', 'unless': ['graphs'] },
                            {
                                'text': 'Give each kernel more work (a larger batch).',
                                'unless': []
                            }
                        ],
                        features
                    )
                WHEN 'unfused_attention'
                    THEN concat(
                        'Use torch.nn.functional.scaled_dot_product_attention. If the model uses ',
                        'it already, none of its fused kernels supports these inputs: use half ',
                        'precision, a supported head size, or no mask.'
                    )
                WHEN 'exposed_communication'
                    THEN concat(
                        'Start it earlier, so that it overlaps with computation (buckets, ',
                        'prefetching), send less data, or balance the work of the ranks.'
                    )
                WHEN 'exposed_copy'
                    THEN concat(
                        'Copy from pinned memory on a separate stream before the data is needed, ',
                        'or keep the data on the device.'
                    )
                WHEN 'float_matmul'
                    THEN concat(
                        'Use bfloat16 or half precision (torch.autocast), or ',
                        'torch.set_float32_matmul_precision("high") if the device supports it. ',
                        'Check the results.'
                    )
                ELSE cause_remedy
            END AS remedy
        FROM known
    ),

    bounded AS (
        SELECT
            * REPLACE (
                if(unknown_reason IS NULL, bound_ns, NULL) AS bound_ns,
                if(unknown_reason IS NULL, idle_ns, NULL) AS idle_ns,
                if(unknown_reason IS NULL, gain_ns, NULL) AS gain_ns
            )
        FROM judged
    )

    SELECT
        run_id,
        device_id,
        bounded.rank,
        device,
        is_slowest,
        kind,
        bound_ns,
        idle_ns,
        gain_ns,
        kind <> 'float_matmul' AS is_reachable,
        coalesce(bound_ns >= 0.01 * wall_ns AND bound_ns >= 50_000, FALSE) AS is_advice,
        wall_ns,
        100.0 * bound_ns / nullif(wall_ns, 0) AS percent,
        if(
            bound_ns > 0,
            concat_ws(
                ' ',
                CASE
                    WHEN is_of_path
                        THEN format(
                            'Without {}, {} would end {} earlier.',
                            CASE kind
                                WHEN 'host_bound' THEN 'the work of the host'
                                WHEN 'recompiled' THEN 'compilation'
                                WHEN 'blocking' THEN 'waits for the device'
                                WHEN 'dataloader' THEN 'loading data'
                                WHEN 'exposed_communication' THEN 'communication'
                                WHEN 'exposed_copy' THEN 'copies'
                            END,
                            steps_name,
                            duration_text(gain_ns)
                        )
                END,
                if(saved_ns > 0 OR idle_ns > 0 OR kind = 'recompiled', finding, NULL)
            ),
            NULL
        ) AS finding,
        remedy,
        if(NOT is_host AND (kind <> 'recompiled' OR idle_ns > 0), cause, NULL) AS cause,
        if(kind IN ('small_kernels', 'exposed_communication', 'exposed_copy'), name, NULL)
            AS kernel,
        if(kind IN ('float_matmul', 'unfused_attention'), name, NULL) AS op,
        unknown_reason
    FROM bounded;
