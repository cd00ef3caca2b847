-- The host time of diffusers pipeline calls, by stage: encoding of texts and images, the denoising
-- loop by step and block class, decoding, and other code. The rows of a call add up exactly to its
-- duration. `stage_parts` has the device time.
-- One row: the part of a call in a stage, step and block class, without the steps and blocks nested
-- inside.
-- Materialised: several relations read it, and its file is written from it.
--
-- `capture` records the labels that these rows come from (`docs/capture.md`). A trace without them
-- has no rows. If pipelines call each other, only the outermost call counts, with all stages inside
-- it. A call that began before the recording is unknown; a call that the recording cut off ends
-- with the recording. Calls are numbered per input file, even if several files belong to one rank.
--
-- run_id, source_id, rank, pipeline, call
-- stage        `encode`, `denoise`, `decode`, or `other` for code outside these stages
-- step         number of the denoising step (`steps.step`); null outside steps
-- block_class  class name of the denoiser's block; null outside blocks
-- occurrences  number of blocks; of steps if `block_class` is null; of stages if `step` is null
--              too; 1 for `other`
-- start_ns     Unix time at which the first occurrence began, ns
-- host_ns      time on the calling thread, ns
-- operators    number of outermost operators that began in it, on any thread
-- peak_bytes   peak of memory in use during it, on the rank's device with the highest peak, bytes;
--              on the host in a run without a device; null if not recorded
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
    FROM stage_members
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
