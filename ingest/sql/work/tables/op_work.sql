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
-- bytes_at_most  of a generated kernel, the bytes of all its arguments: an upper bound of what it
--                reads and writes. Null for other operators
-- bytes          of both, or else `bytes_at_most`; null if neither is known
-- flops_reason   why `flops` is null: formula (what is recorded does not determine it; see column
--                `assumes` of `work_formulas`), inputs (a shape, type or value is missing, symbolic
--                or too large) or not_recorded (MegEngine counted none, or no natural number)
-- bytes_reason   why the bytes read or written are unknown, in the same words
-- module_id      innermost nn.Module around it (`module_tree.module_id`); null outside modules
-- pipeline_call  the pipeline call in which it began (`stages.call`); null outside of calls
-- stage          stage of the call: `encode`, `denoise`, `decode` or `other`; null outside of calls
-- block_class    class name of the denoiser's block; null outside blocks
SELECT
    work.source_id,
    work.rank,
    work.op_id,
    work.formula,
    formulas.kind,
    work.dtype,
    work.flops,
    work.bytes_read,
    work.bytes_written,
    work.bytes_at_most,
    coalesce(
        try_cast(work.bytes_read::HUGEINT + work.bytes_written AS BIGINT), work.bytes_at_most
    ) AS bytes,
    CASE
        WHEN work.flops IS NULL THEN if(formulas.flops IS NULL, 'formula', 'inputs')
    END AS flops_reason,
    CASE
        WHEN work.bytes_read IS NULL OR work.bytes_written IS NULL
            THEN if(
                formulas.bytes_read IS NULL OR formulas.bytes_written IS NULL, 'formula', 'inputs'
            )
    END AS bytes_reason,
    nullif(host_nest.module_id, 0) AS module_id,
    around.call AS pipeline_call,
    around.stage,
    around.block_class
FROM op_work_spans AS work
INNER JOIN formulas ON work.formula = formulas.formula
LEFT JOIN host_nest ON work.op_id = host_nest.event_id
LEFT JOIN stage_members AS around ON work.op_id = around.event_id AND around.kind = 'work'
UNION ALL BY NAME
SELECT * EXCLUDE (kernel_ids)
FROM megengine_work;
