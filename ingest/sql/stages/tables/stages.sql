-- What the calls of diffusers pipelines consist of, on the host: encoding texts and images, the
-- denoising loop by step and class of block, decoding, and other code. The rows of a call add up to
-- it, to the ns; `stage_parts` has the time of its devices.
-- One row: what a call did in a stage, a step and a class of blocks, and in no other inside.
-- Materialised: several relations read it, and its file is written from it.
--
-- `capture` labels all this (`docs/capture.md`); a trace without these labels has no rows. Of
-- pipelines that call each other, the outermost call counts, with the stages of all. A call that
-- began before the recording is not known; one that the recording cut off ends with it. Each input
-- file has calls of its own, also where several are of one rank.
--
-- run_id       the run
-- source_id    the input file
-- rank         rank of the process
-- pipeline     class of the pipeline
-- call         place of the call among those of its input file, from 1
-- stage        `encode`, `denoise`, `decode`, or `other` for code in none of these
-- step         number of the denoising step (`steps.step`); null outside of steps
-- block_class  class of the denoiser's block; null outside of blocks
-- occurrences  how often: blocks, or without one steps, or stages; 1 for `other`
-- start_ns     Unix time at which the first of them began, ns
-- host_ns      time on the thread of the call, ns
-- operators    outermost operators that began there, on any thread
-- peak_bytes   the most memory in use meanwhile on the rank's device with the most, of the host's
--              in a run without a device, bytes; null where not recorded
WITH
cells AS (
    SELECT
        source_id,
        rank,
        pipeline,
        call,
        stage,
        step,
        block_class,
        count(DISTINCT occurrence) AS occurrences,
        min(start_ns) AS start_ns,
        sum(end_ns - start_ns)::BIGINT AS host_ns
    FROM stage_stretches
    GROUP BY source_id, rank, pipeline, call, stage, step, block_class
),

operators AS (
    SELECT source_id, call, stage, step, block_class, count(*) AS operators
    FROM stage_work
    WHERE kind = 'operator'
    GROUP BY source_id, call, stage, step, block_class
)

SELECT
    cells.source_id,
    cells.rank,
    cells.pipeline,
    cells.call,
    cells.stage,
    cells.step,
    cells.block_class,
    cells.occurrences,
    cells.start_ns,
    cells.host_ns,
    coalesce(operators.operators, 0) AS operators,
    peaks.peak_bytes
FROM cells
LEFT JOIN operators
    ON
        cells.source_id = operators.source_id
        AND cells.call = operators.call
        AND cells.stage = operators.stage
        AND cells.step IS NOT DISTINCT FROM operators.step
        AND cells.block_class IS NOT DISTINCT FROM operators.block_class
LEFT JOIN stage_peaks AS peaks
    ON
        cells.source_id = peaks.source_id
        AND cells.call = peaks.call
        AND cells.stage = peaks.stage
        AND cells.step IS NOT DISTINCT FROM peaks.step
        AND cells.block_class IS NOT DISTINCT FROM peaks.block_class
ORDER BY cells.source_id, cells.call, cells.start_ns;
