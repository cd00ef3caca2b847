-- `convolution_formulas()`: formulas of convolutions; `operator_formulas` describes the columns.
CREATE MACRO convolution_formulas() AS TABLE
    SELECT 'convolution' AS kind, *
    FROM (
        VALUES
        (
            'convolution', 'aten::convolution aten::_convolution', 1,
            '2 * n[2] / d[2][1] * CASE c[7]
                WHEN ''False'' THEN d[1][1] * d[2][1]
                    * elements(convolved(d[1], d[2][3:], c[4], c[5], c[6]))
                WHEN ''True'' THEN n[1]
            END',
            'b[1] + b[2] + given(t[3], b[3])',
            's[1] * d[1][1] * CASE c[7]
                WHEN ''False'' THEN d[2][1] * elements(convolved(d[1], d[2][3:], c[4], c[5], c[6]))
                WHEN ''True'' THEN d[2][2] * try_cast(c[9] AS INTEGER)
                    * elements(upsampled(d[1], d[2][3:], c[4], c[5], c[8], c[6]))
            END',
            'torch.utils.flop_counter', 'the bias is not counted', 14
        ),
        (
            'vendor_convolution', 'aten::miopen_convolution aten::mkldnn_convolution', 1,
            '2 * n[2] * d[1][1] * elements(convolved(d[1], d[2][3:], c[5], c[4], c[6]))',
            'b[1] + b[2] + given(t[3], b[3])',
            's[1] * d[1][1] * d[2][1] * elements(convolved(d[1], d[2][3:], c[5], c[4], c[6]))',
            'torch.utils.flop_counter', 'the bias is not counted', 10
        ),
        (
            'cudnn_convolution', 'aten::cudnn_convolution', 1,
            '2 * n[2] * d[1][1] * elements(convolved(d[1], d[2][3:], c[4], c[3], c[5]))',
            'b[1] + b[2]',
            's[1] * d[1][1] * d[2][1] * elements(convolved(d[1], d[2][3:], c[4], c[3], c[5]))',
            'torch.utils.flop_counter', NULL, 10
        ),
        (
            'cudnn_convolution_relu',
            'aten::cudnn_convolution_relu aten::miopen_convolution_relu',
            1,
            '2 * n[2] * d[1][1] * elements(convolved(d[1], d[2][3:], c[4], c[5], c[6]))',
            'b[1] + b[2] + given(t[3], b[3])',
            's[1] * d[1][1] * d[2][1] * elements(convolved(d[1], d[2][3:], c[4], c[5], c[6]))',
            'torch.utils.flop_counter', 'the bias and the activation are not counted', 8
        ),
        -- grad_output, input, weight: a product for the gradient of the input, one for the weight's
        (
            'convolution_backward', 'aten::convolution_backward', 1,
            '2 * n[3] / d[3][1] * CASE c[8] WHEN ''False'' THEN n[1] WHEN ''True'' THEN n[2] END
                * (if_wanted(c[11], 1, 1) + if_wanted(c[11], 2, 1))',
            'b[1] + if_wanted(c[11], 1, b[3]) + if_wanted(c[11], 2, b[2])',
            'if_wanted(c[11], 1, n[2] * s[2]) + if_wanted(c[11], 2, n[3] * s[3])
                + if_wanted(c[11], 3, d[1][2] * s[3])',
            'two products as large as the forward one, each with its groups',
            'the gradient of the bias is not counted', 14
        ),
        -- size of the input, grad_output, weight; and size of the weight, grad_output, input
        (
            'cudnn_backward_input', 'aten::cudnn_convolution_backward_input', 2,
            '2 * n[2] * n[3] / d[3][1]',
            'b[2] + b[3]', NULL,
            'torch.utils.flop_counter', 'the size of the result is not recorded', NULL
        ),
        (
            'cudnn_backward_weight', 'aten::cudnn_convolution_backward_weight', 2,
            NULL,
            'b[2] + b[3]', NULL,
            'torch.utils.flop_counter', 'the size of the weight is not recorded', NULL
        )
    ) AS formulas (
        formula, operators, operand, flops, bytes_read, bytes_written, source, assumes, arguments
    );
