-- `product_formulas()`: formulas of matrix products; `operator_formulas` describes the columns.
CREATE MACRO product_formulas() AS TABLE
    SELECT
        'product' AS kind,
        *,
        CASE formula
            WHEN 'mm' THEN 'd[1][2] = d[2][1]'
            WHEN 'bmm' THEN 'd[1][1] = d[2][1] AND d[1][3] = d[2][2]'
            WHEN 'addmm' THEN 'd[2][2] = d[3][1]'
            WHEN 'baddbmm' THEN 'd[2][1] = d[3][1] AND d[2][3] = d[3][2]'
            -- The bias, if any, has an element for each row of the weight.
            WHEN 'linear'
                THEN 'd[1][-1] = d[2][-1] AND len(d[2]) <= 2
                    AND coalesce(d[3] = d[2][:len(d[2]) - 1], TRUE)'
        END AS requires
    FROM (
        VALUES
        (
            'mm', 'aten::mm', 1,
            '2 * n[1] * d[2][2]',
            'b[1] + b[2]', 's[1] * d[1][1] * d[2][2]',
            'torch.utils.flop_counter', NULL, 4
        ),
        (
            'int_mm', 'aten::_int_mm', 1,
            '2 * n[1] * d[2][2]',
            'b[1] + b[2]', '4 * d[1][1] * d[2][2]',
            'torch.utils.flop_counter', NULL, 3
        ),
        (
            'mv', 'aten::mv', 1,
            '2 * n[1]',
            'b[1] + b[2]', 's[1] * d[1][1]',
            'one multiplication and one addition for each element of the matrix', NULL, 3
        ),
        (
            'addmv', 'aten::addmv', 2,
            '2 * n[2]',
            'b[1] + b[2] + b[3]', 's[2] * d[2][1]',
            'one multiplication and one addition for each element of the matrix',
            'the addition of the vector is not counted', 6
        ),
        (
            'dot', 'aten::dot aten::vdot', 1,
            '2 * n[1]',
            'b[1] + b[2]', 's[1]',
            'one multiplication and one addition for each element', NULL, 3
        ),
        (
            'bmm', 'aten::bmm', 1,
            '2 * n[1] * d[2][3]',
            'b[1] + b[2]', 's[1] * d[1][1] * d[1][2] * d[2][3]',
            'torch.utils.flop_counter', NULL, 4
        ),
        (
            'addmm', 'aten::addmm aten::_addmm_activation', 2,
            '2 * n[2] * d[3][2]',
            'b[1] + b[2] + b[3]', 's[2] * d[2][1] * d[3][2]',
            'torch.utils.flop_counter', 'the addition and the activation are not counted', 7
        ),
        (
            'baddbmm', 'aten::baddbmm', 2,
            '2 * n[2] * d[3][3]',
            'b[1] + b[2] + b[3]', 's[2] * d[2][1] * d[2][2] * d[3][3]',
            'torch.utils.flop_counter', 'the addition is not counted', 7
        ),
        (
            'addbmm', 'aten::addbmm', 2,
            '2 * n[2] * d[3][3]',
            'b[1] + b[2] + b[3]', 's[2] * d[2][2] * d[3][3]',
            'the product of each pair of matrices', 'the additions are not counted', 6
        ),
        (
            'linear',
            'aten::linear aten::mkldnn_linear mkldnn::_linear_pointwise
            vllm::rocm_unquantized_gemm',
            1,
            '2 * n[1] * n[2] / d[2][-1]',
            'b[1] + b[2] + given(t[3], b[3])', 's[1] * n[1] / d[2][-1] * n[2] / d[2][-1]',
            'torch.nn.functional.linear: the product with the transposed weight',
            'the bias and fused activations are not counted', 6
        ),
        (
            'scaled_mm', 'aten::_scaled_mm', 1,
            '2 * n[1] * d[2][2]',
            'b[1] + b[2] + b[3] + b[4] + given(t[5], b[5])',
            'CASE c[7] WHEN '''' THEN s[1] ELSE number_bytes(c[7]) END * d[1][1] * d[2][2]',
            'torch.utils.flop_counter', 'scaling and the bias are not counted', 9
        ),
        (
            'scaled_mm_v2', 'aten::_scaled_mm_v2', 1,
            '2 * n[1] * d[2][2]',
            'b[1] + b[2]', NULL,
            'torch.utils.flop_counter', 'scaling and the bias are not counted', 13
        ),
        (
            'scaled_mm_out', '_C::cutlass_scaled_mm _C::cutlass_scaled_mm_azp', 2,
            '2 * n[2] * d[3][2]',
            'b[2] + b[3] + b[4] + b[5] + given(t[6], b[6])', 'b[1]',
            'csrc/quantization in vLLM', 'scaling and the bias are not counted', NULL
        ),
        (
            'sgl_scaled_mm', 'sgl_kernel::fp8_scaled_mm sgl_kernel::int8_scaled_mm', 1,
            '2 * n[1] * d[2][2]',
            'b[1] + b[2] + b[3] + b[4] + given(t[6], b[6])',
            'number_bytes(c[5]) * d[1][1] * d[2][2]',
            'sgl-kernel/csrc/gemm in SGLang',
            'scaling and the bias are not counted', NULL
        ),
        (
            'int8pack_mm', 'aten::_weight_int8pack_mm', 1,
            '2 * n[1] * d[2][1]',
            'b[1] + b[2] + b[3]', 's[1] * d[1][1] * d[2][1]',
            'native_functions.yaml in torch: the weight is [N, K]', 'scaling is not counted', 3
        ),
        (
            'int4pack_mm', 'aten::_weight_int4pack_mm', 1,
            '2 * n[1] * d[2][1] * 8',
            'b[1] + b[2] + b[4]', 's[1] * d[1][1] * d[2][1] * 8',
            'native_functions.yaml in torch: weights are [N / 8, K / (16 * tiles), 32, tiles / 2]',
            'scaling is not counted', 4
        ),
        (
            'awq_gemm', '_C::awq_gemm', 1,
            '2 * n[1] * d[2][2] * 8',
            'b[1] + b[2] + b[3] + b[4]', 's[1] * d[1][1] * d[2][2] * 8',
            'csrc/quantization/awq in vLLM: eight weights in an integer',
            'scaling is not counted',
            NULL
        ),
        (
            'gptq_gemm', '_C::gptq_gemm', 1,
            '2 * n[1] * d[2][2]',
            'b[1] + b[2] + b[3] + b[4] + b[5]', 's[1] * d[1][1] * d[2][2]',
            'csrc/quantization/gptq in vLLM: eight weights in an integer',
            'scaling is not counted',
            NULL
        ),
        -- The offsets of the groups are not recorded, but the sizes of the whole are.
        (
            'grouped_mm', 'aten::_grouped_mm', 1,
            'CASE WHEN len(d[1]) = 3 AND len(d[2]) = 2 THEN 2 * d[1][2] * n[2]
                ELSE 2 * n[1] * d[2][-1] END',
            'b[1] + b[2]',
            'named_bytes(c[5], s[1]) * d[2][-1] * CASE
                WHEN len(d[1]) = 3 AND len(d[2]) = 2 THEN d[1][2]
                WHEN len(d[1]) = 2 AND len(d[2]) = 2 THEN n[3] * d[1][1]
                ELSE n[1] / d[1][-1]
            END',
            'torch._grouped_mm', 'the groups cover all rows', 5
        ),
        (
            'scaled_grouped_mm', 'aten::_scaled_grouped_mm', 1,
            'CASE WHEN len(d[1]) = 3 AND len(d[2]) = 2 THEN 2 * d[1][2] * n[2]
                ELSE 2 * n[1] * d[2][-1] END',
            'b[1] + b[2] + b[3] + b[4]', NULL,
            'torch._scaled_grouped_mm', 'the groups cover all rows; scaling is not counted', 9
        ),
        -- hidden states, two weights [experts, …, …], weights of the chosen experts, their numbers
        (
            'fused_experts',
            'vllm::inplace_fused_experts vllm::outplace_fused_experts sglang::inplace_fused_experts
            sglang::outplace_fused_experts',
            1,
            '2 * n[4] * (d[2][2] * d[2][3] + d[3][2] * d[3][3])',
            NULL, 's[1] * n[1]',
            'fused_moe in vLLM: both products for each token and each of its experts',
            'the activation is not counted', NULL
        ),
        (
            'moe_forward', 'vllm::moe_forward vllm::moe_forward_shared', 1,
            NULL,
            NULL, NULL,
            'fused_moe in vLLM', 'the weights are not among the recorded inputs', NULL
        )
    ) AS formulas (
        formula, operators, operand, flops, bytes_read, bytes_written, source, assumes, arguments
    );
