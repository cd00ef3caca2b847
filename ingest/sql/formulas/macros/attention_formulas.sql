-- `attention_formulas()`: formulas of attention; `operator_formulas` describes the columns.
--
-- A causal mask halves nothing: torch's counter counts the whole product, too. If the lengths of
-- the sequences are in a tensor, they are not recorded.
CREATE MACRO attention_formulas() AS TABLE
    SELECT 'attention' AS kind, *
    FROM (
        VALUES
        -- query, key and value: [batch, heads, length, size]
        (
            'sdpa',
            'aten::scaled_dot_product_attention aten::_scaled_dot_product_attention_math
            aten::_scaled_dot_product_flash_attention aten::_scaled_dot_product_efficient_attention
            aten::_scaled_dot_product_cudnn_attention
            aten::_scaled_dot_product_flash_attention_for_cpu
            aten::_scaled_dot_product_fused_attention_overrideable',
            1,
            '2 * n[1] * d[2][-2] + 2 * n[1] / d[1][-1] * d[2][-2] * d[3][-1]',
            'b[1] + b[2] + b[3] + given(t[4], b[4]) + given(t[5], b[5]) + given(t[6], b[6])',
            's[1] * n[1] / d[1][-1] * d[3][-1]',
            'torch.utils.flop_counter',
            'a causal mask halves nothing; dropout and softmax are not counted', 10
        ),
        (
            'sdpa_backward',
            'aten::_scaled_dot_product_flash_attention_backward
            aten::_scaled_dot_product_efficient_attention_backward
            aten::_scaled_dot_product_cudnn_attention_backward
            aten::_scaled_dot_product_flash_attention_for_cpu_backward
            aten::_scaled_dot_product_fused_attention_overrideable_backward',
            2,
            '6 * n[2] * d[3][-2] + 4 * n[2] / d[2][-1] * d[3][-2] * d[4][-1]',
            'b[1] + s[1] * n[1] + b[2] + b[3] + b[4]', 's[2] * n[2] + s[3] * n[3] + s[4] * n[4]',
            'torch.utils.flop_counter: the scores again, and four products',
            'a causal mask halves nothing; the output is as large as its gradient; masks are not
            counted', 17
        ),
        -- query, key and value: [batch, length, heads, size]
        (
            'flash', 'aten::_flash_attention_forward flash_attn::_flash_attn_forward', 1,
            'CASE WHEN len(d[1]) = 4
                THEN 2 * n[1] * d[2][2] + 2 * n[1] / d[1][4] * d[2][2] * d[3][4] END',
            'b[1] + b[2] + b[3]', 's[1] * n[1] / d[1][-1] * d[3][-1]',
            'torch.utils.flop_counter',
            'a causal mask halves nothing; lengths in a tensor are not recorded', 18
        ),
        (
            'flash_backward',
            'aten::_flash_attention_backward flash_attn::_flash_attn_backward', 2,
            'CASE WHEN len(d[2]) = 4
                THEN 6 * n[2] * d[3][2] + 4 * n[2] / d[2][4] * d[3][2] * d[4][4] END',
            'b[1] + s[1] * n[1] + b[2] + b[3] + b[4]', 's[2] * n[2] + s[3] * n[3] + s[4] * n[4]',
            'torch.utils.flop_counter: the scores again, and four products',
            'a causal mask halves nothing; lengths in a tensor are not recorded', 17
        ),
        -- The fifth argument, or the seventh, has the lengths of the sequences.
        (
            'efficient',
            'aten::_efficient_attention_forward xformers::efficient_attention_forward_cutlass', 1,
            'CASE WHEN t[5] = '''' AND len(d[1]) = 4
                THEN 2 * n[1] * d[2][2] + 2 * n[1] / d[1][4] * d[2][2] * d[3][4] END',
            'b[1] + b[2] + b[3] + given(t[4], b[4])', 's[1] * n[1] / d[1][-1] * d[3][-1]',
            'torch.utils.flop_counter',
            'a causal mask halves nothing; lengths in a tensor are not recorded', 14
        ),
        (
            'efficient_backward', 'aten::_efficient_attention_backward', 2,
            'CASE WHEN t[7] = '''' AND len(d[2]) = 4
                THEN 6 * n[2] * d[3][2] + 4 * n[2] / d[2][4] * d[3][2] * d[4][4] END',
            'b[1] + s[1] * n[1] + b[2] + b[3] + b[4]', 's[2] * n[2] + s[3] * n[3] + s[4] * n[4]',
            'torch.utils.flop_counter: the scores again, and four products',
            'a causal mask halves nothing; lengths in a tensor are not recorded', 20
        ),
        -- query, key and value: [all lengths, heads, size]
        (
            'varlen',
            'flash_attn::_flash_attn_varlen_forward aiter::fmha_v3_varlen_fwd aiter::mha_varlen_fwd
            vllm::unified_attention vllm::unified_attention_with_output sgl_kernel::fwd
            sglang::unified_attention_with_output',
            1,
            NULL,
            NULL, NULL,
            'the lengths of the sequences are in a tensor',
            'only the keys of each sequence count, and cached keys are not among the inputs', NULL
        )
    ) AS formulas (
        formula, operators, operand, flops, bytes_read, bytes_written, source, assumes, arguments
    );
