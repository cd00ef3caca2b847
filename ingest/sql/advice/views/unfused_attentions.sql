-- Attentions of the measured steps that ran as separate operators: a batched matrix multiplication,
-- a softmax and another batched matrix multiplication, with at most six other operators between
-- two of them. In a run without operators there are no rows.
-- One row: an operator of such attentions in a step of one device of one rank of a run.
-- Stored: most runs have no such rows, so queries skip them.
--
-- run_id, device_id, rank, device
-- step        step that launched its kernels (`steps.step`)
-- is_median
-- op          innermost cpu_op around the launch: a matrix multiplication or the softmax
-- calls       number of calls of the operator; in a CUDA graph, of its kernels
-- attentions  number of attentions; 0 for the matrix multiplications
-- device_ns   time of the kernels that the calls launched, ns
-- op_ids      the calls, by their ids in `ops`; null in a CUDA graph
WITH
calls AS (
    SELECT
        kernel.run_id,
        kernel.device_id,
        kernel.rank,
        kernel.device,
        kernel.step,
        kernel.is_median,
        leaf.name AS op,
        leaf.owner_id AS op_id,
        sum(kernel.inside_ns)::BIGINT AS device_ns,
        row_number() OVER (
            PARTITION BY kernel.run_id, kernel.device_id
            ORDER BY min(kernel.start_ns), min(kernel.event_id)
        ) AS ordinal
    FROM measured_kernels AS kernel
    INNER JOIN ranked_kernels AS leaf
        ON kernel.run_id = leaf.run_id AND kernel.event_id = leaf.event_id
    WHERE kernel.class = 'compute' AND leaf.level = 'leaf'
    GROUP BY
        kernel.run_id,
        kernel.device_id,
        kernel.rank,
        kernel.device,
        kernel.step,
        kernel.is_median,
        leaf.name,
        leaf.owner_id,
        -- A graph's activities have no call.
        if(leaf.owner_id IS NULL, kernel.event_id, NULL)
),

-- Other multiplications are kept: a softmax next to one of them is not taken for attention.
relevant AS (
    SELECT
        *,
        CASE
            WHEN op IN ('aten::bmm', 'aten::baddbmm') THEN 'matmul'
            WHEN op IN ('aten::_softmax', 'aten::softmax') THEN 'softmax'
        END AS role
    FROM calls
    WHERE
        regexp_matches(
            op, '^aten::(_?(bmm|baddbmm|mm|addmm|softmax)|(cudnn_|miopen_)?convolution)$'
        )
),

neighbours AS (
    SELECT
        *,
        lag(role) OVER around AS role_before,
        lag(ordinal) OVER around AS ordinal_before,
        lead(role) OVER around AS role_after,
        lead(ordinal) OVER around AS ordinal_after
    FROM relevant
    WINDOW around AS (PARTITION BY run_id, device_id ORDER BY ordinal)
),

softmaxes AS (
    SELECT run_id, device_id, ordinal_before, ordinal, ordinal_after
    FROM neighbours
    WHERE
        role = 'softmax'
        AND role_before = 'matmul'
        AND role_after = 'matmul'
        AND ordinal - ordinal_before <= 7
        AND ordinal_after - ordinal <= 7
)

SELECT
    part.run_id,
    part.device_id,
    part.rank,
    part.device,
    part.step,
    part.is_median,
    part.op,
    count(*) AS calls,
    count(*) FILTER (WHERE part.role = 'softmax') AS attentions,
    sum(part.device_ns)::BIGINT AS device_ns,
    list(part.op_id ORDER BY part.op_id) FILTER (WHERE part.op_id IS NOT NULL) AS op_ids
FROM relevant AS part
SEMI JOIN softmaxes
    ON
        part.run_id = softmaxes.run_id
        AND part.device_id = softmaxes.device_id
        AND part.ordinal IN (
            softmaxes.ordinal_before, softmaxes.ordinal, softmaxes.ordinal_after
        )
GROUP BY ALL;
