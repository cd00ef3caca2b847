-- The variants of each sweep, compared with the eager variants that are their bases. If a variant
-- is in the store more than once, because it was tried again, the run that was added last counts.
-- One row: a variant of a sweep.
--
-- run_id             the run, which is the variant's profile
-- ingested_at        time at which the run was added, UTC
-- sweep
-- ordinal            number of the variant in its sweep, from 1
-- variant            name of the variant
-- tried, settings
-- base_run_id        run of the base (`runs.run_id`); null if the store does not have it
-- base_variant       name of the base
-- is_base            whether the variant is a base
-- image_ns           time per image or video: the median of `process_image_ns`, ns
-- spread_ns          median distance of `process_image_ns` from its median, ns; null for one
--                    process
-- process_image_ns   time per image or video in each process that timed the variant, ns
-- base_image_ns      time per image or video in each process that timed the base, ns
-- speedup            time per image of the base divided by that of the variant
-- compile_cold_ns    duration of the warm-up calls beyond that of as many later calls, with an
--                    empty compiler cache, ns; null if nothing was compiled, or there were no
--                    warm-up calls
-- compile_warm_ns    duration of the warm-up calls beyond that of as many later calls, in later
--                    processes, which reuse the compiled code: the median, ns; null if
--                    `compile_cold_ns` is null
-- break_even_images  number of images after which a process with an empty cache has saved the time
--                    that it spent compiling; null if it compiled nothing, or is not faster
-- peak_bytes         peak of memory in use while calls were timed, bytes
-- peak_of
-- recompiles         number of recompilations in a process
-- recompile_reasons, compile_failures, graph_breaks, graph_break_reasons
-- max_distance       largest difference between the outputs of the variant and its base
-- mean_distance, psnr_db, distance_reason, failure
WITH variants AS (
    SELECT
        sweep_variants.*,
        runs.ingested_at,
        coalesce(variant = base_variant, FALSE) AS is_base,
        if(
            images > 0,
            list_transform(process_call_ns, LAMBDA call_ns: call_ns / images),
            NULL
        ) AS process_image_ns,
        list_transform(
            list_zip(process_warmup_ns, process_call_ns),
            LAMBDA process: if(
                process[2] IS NULL, NULL, greatest(process[1] - warmup_calls * process[2], 0)
            )
        ) AS process_compile_ns,
        compilations > 0 AND warmup_calls > 0 AS knows_compile_ns
    FROM sweep_variants
    INNER JOIN runs ON sweep_variants.run_id = runs.run_id
    QUALIFY
        row_number() OVER (
            PARTITION BY sweep, variant ORDER BY runs.ingested_at DESC, runs.run_id DESC
        ) = 1
),

compared AS (
    SELECT
        variants.*,
        bases.run_id AS base_run_id,
        bases.process_image_ns AS base_image_ns,
        list_aggregate(variants.process_image_ns, 'median') AS image_ns,
        list_aggregate(bases.process_image_ns, 'median') AS base_median_ns,
        if(variants.knows_compile_ns, variants.process_compile_ns[1], NULL) AS compile_cold_ns,
        if(
            variants.knows_compile_ns,
            list_aggregate(variants.process_compile_ns[2:], 'median'),
            NULL
        ) AS compile_warm_ns
    FROM variants
    LEFT JOIN variants AS bases
        ON variants.sweep = bases.sweep AND variants.base_variant = bases.variant AND bases.is_base
)

SELECT
    run_id,
    ingested_at,
    sweep,
    ordinal,
    variant,
    tried,
    settings,
    base_run_id,
    base_variant,
    is_base,
    image_ns,
    if(len(process_image_ns) > 1, list_aggregate(process_image_ns, 'mad'), NULL) AS spread_ns,
    process_image_ns,
    base_image_ns,
    base_median_ns / nullif(image_ns, 0) AS speedup,
    compile_cold_ns::BIGINT AS compile_cold_ns,
    compile_warm_ns::BIGINT AS compile_warm_ns,
    CASE
        WHEN base_median_ns > image_ns
            THEN try_cast(ceil(compile_cold_ns / (base_median_ns - image_ns)) AS BIGINT)
    END AS break_even_images,
    peak_bytes,
    peak_of,
    recompiles,
    recompile_reasons,
    compile_failures,
    graph_breaks,
    graph_break_reasons,
    max_distance,
    mean_distance,
    psnr_db,
    distance_reason,
    failure
FROM compared;
