-- Work of operators: floating-point operations, and bytes that have to be read and written. Work
-- belongs to the outermost operator whose formula yields a number, so sums count it once. An
-- operator that only knows that it has no operations gives way to operators inside whose bytes are
-- known. The work of MegEngine's operators is what its profiler recorded.
-- One row: a call of an operator with a formula (`work_formulas`) that yields a number, or an
-- operator with a footprint in a profile of MegEngine.
--
-- run_id, source_id, rank
-- op_id          the operator (`ops.event_id`); null if a profile of MegEngine has no time of the
--                operator on the host
-- formula        the formula, as in `work_formulas`; `megengine` for figures of MegEngine
-- kind           kind of work, as in `work_formulas`; `other` for other types of MegEngine's
--                operators
-- dtype          type in which the operator computes, as torch names it: `bfloat16`. Of MegEngine,
--                the type of the first input with a known type
-- flops          floating-point operations; a multiplication and an addition are two
-- bytes_read     bytes of its inputs, each once; of a gather, of the rows that it wants. Null for
--                MegEngine, which records the sum
-- bytes_written  bytes of its outputs. Null for MegEngine
-- bytes_at_most  of a generated kernel, the bytes of all its arguments, if what it reads and writes
--                is unknown: an upper bound of both. Null for other operators
-- bytes          of both, or else `bytes_at_most`; null if neither is known
-- flops_reason   why `flops` is null: formula (what is recorded does not determine it; see column
--                `assumes` of `work_formulas`), inputs (a shape, type or value is missing, symbolic
--                or too large) or not_recorded (MegEngine counted none, or no natural number)
-- bytes_reason   why the bytes read or written are unknown, in the same words
-- module_id      innermost nn.Module around it (`module_tree.module_id`); null outside modules
-- pipeline_call  the pipeline call in which it began (`stages.call`); null outside of calls
-- stage          stage of the call: `encode`, `denoise`, `decode` or `other`; null outside of calls
-- block_class    class name of the denoiser's block; null outside blocks
WITH
known AS (
    SELECT
        work.source_id,
        work.rank,
        work.op_id,
        if(work.flops IS NULL AND fused.is_product, 'fused_product', work.formula) AS formula,
        coalesce(work.dtype, fused.dtype) AS dtype,
        coalesce(work.flops, fused.flops) AS flops,
        coalesce(work.bytes_read, fused.bytes_read) AS bytes_read,
        coalesce(work.bytes_written, fused.bytes_written) AS bytes_written,
        CASE
            WHEN fused.bytes_read IS NULL OR fused.bytes_written IS NULL
                THEN coalesce(fused.bytes_at_most, work.bytes_at_most)
        END AS bytes_at_most,
        fused.flops_reason
    FROM op_work_spans AS work
    LEFT JOIN fused_work AS fused ON work.op_id = fused.op_id
)

SELECT
    known.source_id,
    known.rank,
    known.op_id,
    known.formula,
    formulas.kind,
    known.dtype,
    known.flops,
    known.bytes_read,
    known.bytes_written,
    known.bytes_at_most,
    coalesce(
        try_cast(known.bytes_read::HUGEINT + known.bytes_written AS BIGINT), known.bytes_at_most
    ) AS bytes,
    CASE
        WHEN known.flops IS NULL
            THEN coalesce(known.flops_reason, if(formulas.flops IS NULL, 'formula', 'inputs'))
    END AS flops_reason,
    CASE
        WHEN known.bytes_read IS NULL OR known.bytes_written IS NULL
            THEN if(
                formulas.bytes_read IS NULL OR formulas.bytes_written IS NULL, 'formula', 'inputs'
            )
    END AS bytes_reason,
    nullif(host_nest.module_id, 0) AS module_id,
    around.call AS pipeline_call,
    around.stage,
    around.block_class
FROM known
INNER JOIN formulas ON known.formula = formulas.formula
LEFT JOIN host_nest ON known.op_id = host_nest.event_id
LEFT JOIN stage_members AS around ON known.op_id = around.event_id AND around.kind = 'work'
WHERE
    coalesce(
        known.flops, known.bytes_read, known.bytes_written, known.bytes_at_most
    ) IS NOT NULL
UNION ALL BY NAME
SELECT * EXCLUDE (kernel_ids)
FROM megengine_work;
