-- Floating-point operations of calls.
-- One row: a call with recorded shapes, of an operator whose operations torch counts.
WITH shaped AS (
    SELECT
        event_id,
        torch_name,
        try_cast(input_dims::JSON AS BIGINT[][]) AS dims,
        from_json(concrete_inputs, '["VARCHAR"]') AS concrete
    FROM call_spans
    INNER JOIN staged_calls USING (event_id)
    WHERE torch_name IN (
        'aten::mul', 'aten::add', 'aten::mm', 'aten::bmm', 'aten::addmm', 'aten::baddbmm',
        'aten::conv2d'
    )
)

SELECT event_id, torch_flops(torch_name, dims, concrete) AS flops
FROM shaped
WHERE dims IS NOT NULL;
