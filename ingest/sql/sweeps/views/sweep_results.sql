-- The variants of each sweep beside the eager one that they are compared with. Of a variant that is
-- in the store twice, because it was tried again, the run that was added last counts.
-- One row: a variant of a sweep.
--
-- run_id             the run: the variant's profile
-- ingested_at        when the run was added, UTC
-- sweep              the sweep's tag
-- ordinal            place of the variant in its sweep, from 1
-- variant            name of the variant
-- tried              how it ran: `eager`, or words of torch.compile joined by +
-- settings           its value on each of the sweep's axes
-- base_run_id        the run of its base (`runs.run_id`); null where the store has none
-- base_variant       name of the base
-- is_base            whether others are compared with it
-- image_ns           time for an image or a video, ns: the median of `process_image_ns`
-- spread_ns          median distance of these from it, ns; null for one process
-- process_image_ns   of each process that timed it, ns
-- base_image_ns      of each process that timed its base, ns
-- speedup            how many times as fast as the base
-- compile_cold_ns    what the calls to warm up took beyond as many later ones, with an empty
--                    compiler cache, ns; null where nothing was compiled, or no call warmed up
-- compile_warm_ns    the same in later processes, which find what was compiled, ns: the median
-- break_even_images  images after which a process with an empty cache has saved the time that
--                    compiling took it; null where it compiled nothing, or is not faster
-- peak_bytes         the most memory in use while calls were timed, bytes
-- peak_of            what that is of: the device, with the memory of CUDA graphs, or the host's
--                    process
-- recompiles         recompilations in a process
-- recompile_reasons  why torch compiled again
-- compile_failures   why torch.compile gave up on a part, which then ran eager
-- graph_breaks       where torch.compile left the graph, and went on in Python
-- graph_break_reasons  why
-- max_distance       largest difference of the output to that of the base
-- mean_distance      mean of the differences
-- psnr_db            peak signal-to-noise ratio, dB; null where the outputs are equal
-- distance_reason    why there is no distance
-- failure            why the variant failed; null where it did not
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
