-- Work of operators, without the time that it takes.
-- One row: a row of `op_work`.
-- Materialised: several relations read it.
WITH
known AS (
    SELECT
        work.source_id,
        work.rank,
        work.op_id,
        if(work.flops IS NULL AND fused.is_product, 'fused_product', work.formula) AS formula,
        -- The first input may have another type than what a generated kernel computes.
        if(work.flops IS NULL, coalesce(fused.dtype, work.dtype), work.dtype) AS dtype,
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
    END AS bytes_reason
FROM known
INNER JOIN formulas ON known.formula = formulas.formula
WHERE
    coalesce(
        known.flops, known.bytes_read, known.bytes_written, known.bytes_at_most
    ) IS NOT NULL
UNION ALL BY NAME
SELECT * EXCLUDE (kernel_ids)
FROM megengine_work;
