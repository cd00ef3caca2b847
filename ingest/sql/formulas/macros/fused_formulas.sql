-- `fused_formulas()`: formulas of kernels that torch.compile generates; `operator_formulas`
-- describes the columns. An operator stands for all that begin with its name.
--
-- The arguments of Triton kernels are tensors, then numbers. Nothing tells inputs from outputs, and
-- a kernel may use a part of a tensor: the bytes of all tensors are an upper bound. Traces record
-- no arguments of C++ kernels. A compile log tells what kernels compute (`fused_work`).
CREATE MACRO fused_formulas() AS TABLE
    SELECT
        *,
        if(operators LIKE 'triton%', 'all_bytes(b, t)', NULL) AS bytes_at_most,
        if(
            flops IS NULL,
            'torch._inductor: lowered graphs',
            'torch._inductor: arguments of kernels'
        )
            AS source
    FROM (
        VALUES
        -- Two factors, other inputs, then the result: [m, k], [k, n], …, [m, n]
        (
            'product', 'template_mm', 'triton_tem_fused_mm triton_tem_fused_bmm', 1,
            'round(2 * sqrt(n[1] * n[2] * n[len(list_filter(s, LAMBDA size: size > 0))]
                / if(len(d[1]) = 3, d[1][1], 1)))',
            'fused elementwise operators are not counted'
        ),
        (
            'product', 'template_addmm', 'triton_tem_fused_addmm triton_tem_fused_baddbmm', 2,
            'round(2 * sqrt(n[2] * n[3] * n[len(list_filter(s, LAMBDA size: size > 0))]
                / if(len(d[2]) = 3, d[2][1], 1)))',
            'the addition and fused elementwise operators are not counted'
        ),
        (
            'convolution', 'template_convolution', 'triton_tem_fused_convolution', 1,
            '2 * n[len(list_filter(s, LAMBDA size: size > 0))] * n[2] / d[2][1]',
            'fused elementwise operators are not counted'
        ),
        (
            'fused', 'triton', 'triton_poi_fused triton_red_fused triton_per_fused', 1,
            NULL,
            'the arguments do not tell what the kernel computes. With a compile log: the operations
            of the operators that norms, softmax and activations were lowered to'
        ),
        (
            'fused', 'cpp', 'cpp_fused', 1,
            NULL,
            'as of Triton kernels'
        ),
        (
            'product', 'fused_product', '', 1,
            NULL,
            'generated kernels that a compile log shows to compute a product; other operators in
            them are not counted'
        )
    ) AS formulas (kind, formula, operators, operand, flops, assumes);
