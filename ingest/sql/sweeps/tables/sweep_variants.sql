-- What `capture sweep` found of the variant that a run is of, as run.json has it. The run itself
-- is the variant's profile; the times here are without a profiler.
-- One row: a run of a sweep.
-- Indexed: It is asked of all runs.
--
-- run_id               the run
-- sweep                the sweep's tag
-- ordinal              place of the variant in its sweep, from 1
-- variant              name of the variant, such as `default 512`
-- tried                how it ran: `eager`, or words of torch.compile joined by +
-- settings             its value on each of the sweep's axes
-- base_variant         variant that it is compared with; its own name where it is one of these
-- images               images or videos that a call makes
-- call_ns              median of `process_call_ns`, ns
-- process_call_ns      of each process that timed it, its median call, ns
-- process_warmup_ns    of each process, its calls to warm up together, ns; the first process
--                      compiled with an empty cache, the others found what it had compiled
-- warmup_calls         calls to warm up in each process
-- peak_bytes           the most memory in use while calls were timed, bytes
-- peak_of              what that is of: the device, with the memory of CUDA graphs, or the host's
--                      process
-- compilations         compilations in a process; 0 where nothing was compiled
-- recompiles           of those, recompilations
-- recompile_reasons    why torch compiled again
-- compile_failures     why torch.compile gave up on a part, which then ran eager
-- graph_breaks         where torch.compile left the graph, and went on in Python
-- graph_break_reasons  why
-- max_distance         largest difference of the output to that of the base, as the output counts:
--                      pixels of an image are from 0 to 1
-- mean_distance        mean of the differences
-- psnr_db              peak signal-to-noise ratio, dB; null where the outputs are equal
-- distance_reason      why there is no distance; null where there is one
-- failure              why the variant failed; null where it did not
WITH said AS (
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
    FROM said
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
