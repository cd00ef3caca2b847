-- Operators whose work counts: the outermost ones with a formula that yields a number, or that are
-- generated kernels in C++, whose number is in `fused_work`.
-- One row: a call of such an operator.
-- Materialised: several relations read it.
--
-- An operator without operations whose bytes are unknown, such as `aten::index`, gives way to
-- operators inside it whose bytes are known.
--
-- Rounded times can make neighbours overlap a little, or an operator end after the one around it.
-- So an operator is inside another one if more than half of its time is.
WITH
calls AS (
    SELECT input_id, formula, unnest(event_ids) AS op_id FROM work_inputs
    UNION ALL BY NAME
    SELECT op.event_id AS op_id, formula_ops.formula
    FROM complete AS op
    INNER JOIN formula_ops ON op.name = formula_ops.name
    WHERE op.category = 'cpu_op' AND formula_ops.formula = 'cpp'
),

worked AS (
    SELECT
        op.source_id,
        op.rank,
        calls.op_id,
        op.lane,
        op.start_ns,
        op.end_ns,
        op.event_index,
        calls.formula,
        work.* EXCLUDE (input_id),
        coalesce(
            work.bytes_read IS NOT NULL AND work.bytes_written IS NOT NULL
            OR work.bytes_at_most IS NOT NULL,
            FALSE
        ) AS has_bytes
    FROM calls
    INNER JOIN complete AS op ON calls.op_id = op.event_id
    LEFT JOIN input_work AS work ON calls.input_id = work.input_id
    WHERE
        calls.input_id IS NULL
        OR coalesce(work.flops, work.bytes_read, work.bytes_written, work.bytes_at_most)
        IS NOT NULL
),

followed AS (
    SELECT
        *,
        first_value(if(has_bytes, { 'from_ns': start_ns, 'to_ns': end_ns }, NULL) IGNORE NULLS)
            OVER (
                PARTITION BY lane
                ORDER BY start_ns, end_ns DESC, event_index, op_id
                ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ) AS next_with_bytes
    FROM worked
)

SELECT * EXCLUDE (has_bytes, next_with_bytes)
FROM followed
WHERE
    NOT coalesce(
        flops = 0
        AND NOT has_bytes
        AND end_ns - next_with_bytes.from_ns
        > (next_with_bytes.to_ns - next_with_bytes.from_ns) / 2,
        FALSE
    )
QUALIFY
    coalesce(
        max(end_ns) OVER (
            PARTITION BY lane
            ORDER BY start_ns, end_ns DESC, event_index, op_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) - start_ns <= (end_ns - start_ns) / 2,
        TRUE
    );
