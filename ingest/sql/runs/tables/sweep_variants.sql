-- Results of `capture sweep` for the variant of each run, from `run.json`. The run is the profile
-- of the variant; the times in this table are measured without a profiler.
-- One row: a run of a sweep.
-- Indexed: It is queried for all runs.
-- Materialised: several statements read it, and planning it takes longer than reading its rows.
--
-- run_id, sweep
-- ordinal            number of the variant in its sweep, from 1
-- variant            name of the variant, such as `default 512`
-- tried, settings
-- base_variant       variant that this one is compared with; its own name if it is a base itself
-- images             number of images or videos per call
-- call_ns            duration of a call: the median of `process_call_ns`, ns
-- process_call_ns    median duration of a call in each process that timed the variant, ns
-- process_warmup_ns  total duration of the warm-up calls in each process, ns; the first process
--                    compiled with an empty cache, and the others reused its compiled code
-- warmup_calls       number of warm-up calls in each process
-- peak_bytes         peak of memory in use while calls were timed, bytes
-- peak_of
-- compilations       number of compilations in a process; 0 if nothing was compiled
-- recompiles         number of recompilations in a process
-- recompile_reasons, compile_failures, graph_breaks, graph_break_reasons
-- max_distance       largest difference between the outputs of the variant and its base, in the
--                    units of the output: pixels of an image range from 0 to 1
-- mean_distance, psnr_db, distance_reason, failure
WITH recorded AS (
    SELECT
        json_transform(
            run_json -> '$.sweep',
            '{
                "tag": "VARCHAR", "ordinal": "BIGINT", "variant": "VARCHAR", "tried": "VARCHAR", "base": "VARCHAR",
                "images": "BIGINT", "call_times_ns": ["BIGINT[]"], "warmup_times_ns": ["BIGINT[]"],
                "peak_bytes": "BIGINT", "peak_of": "VARCHAR", "compilations": "BIGINT",
                "recompiles": "BIGINT", "recompile_reasons": ["VARCHAR"],
                "compile_failures": ["VARCHAR"], "graph_breaks": "INTEGER",
                "graph_break_reasons": ["VARCHAR"], "error": "VARCHAR",
                "settings": "MAP(VARCHAR, VARCHAR)",
                "distance": {
                    "max_abs": "DOUBLE", "mean_abs": "DOUBLE", "psnr_db": "DOUBLE",
                    "missing": "VARCHAR"
                }
            }'
        ) AS sweep
    FROM staged_run
    WHERE json_type(run_json -> '$.sweep') = 'OBJECT'
),

timed AS (
    SELECT
        sweep,
        list_transform(sweep.call_times_ns, LAMBDA calls: list_aggregate(calls, 'median'))
            AS process_call_ns
    FROM recorded
)

SELECT
    sweep.tag AS sweep,
    sweep.ordinal,
    sweep.variant,
    sweep.tried,
    sweep.settings,
    sweep.base AS base_variant,
    sweep.images,
    list_aggregate(process_call_ns, 'median') AS call_ns,
    process_call_ns,
    list_transform(sweep.warmup_times_ns, LAMBDA calls: list_sum(calls)::BIGINT)
        AS process_warmup_ns,
    len(sweep.warmup_times_ns[1]) AS warmup_calls,
    sweep.peak_bytes,
    sweep.peak_of,
    sweep.compilations,
    sweep.recompiles,
    sweep.recompile_reasons,
    sweep.compile_failures,
    sweep.graph_breaks,
    sweep.graph_break_reasons,
    sweep.distance.max_abs AS max_distance,
    sweep.distance.mean_abs AS mean_distance,
    sweep.distance.psnr_db,
    sweep.distance.missing AS distance_reason,
    sweep.error AS failure
FROM timed
WHERE sweep.tag IS NOT NULL AND sweep.variant IS NOT NULL;
